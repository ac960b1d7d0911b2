import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Api } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { openRealHasher, type Service, startService } from '../support/service.ts'
import { type VisitAnswer, type VisitOptions, visit } from '../support/visit.ts'
import { createLink } from './create.ts'

const PASSWORD = 'sesame & ü'
const FAILURES_PER_ADDRESS = 10
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

describe('password throttling behind a trusted proxy', () => {
  let service: Service
  let api: Api
  before(async () => {
    const settings = { TERSE_TRUST_PROXY: '127.0.0.1' }
    service = await startService(SQLITE, settings, {
      clock: fakeClock(Date.now()),
      openHasher: openRealHasher,
    })
    api = await service.api()
  })
  after(() => service.stop())

  const createProtected = () => createLink(api, { password: PASSWORD })

  // The tests act as a trusted proxy and give each visitor a different address.
  let visitors = 0
  const newAddress = () => {
    visitors += 1
    return `198.51.${visitors >> 8}.${visitors & 0xff}`
  }

  function post(path: string, body: string, options: VisitOptions = {}): Promise<VisitAnswer> {
    const headers = { ...FORM, 'x-forwarded-for': newAddress(), ...options.headers }
    return visit(service.port, path, { ...options, method: 'POST', headers, body })
  }

  function enterPassword(
    path: string,
    text: string,
    options: VisitOptions = {},
  ): Promise<VisitAnswer> {
    return post(path, new URLSearchParams({ password: text }).toString(), options)
  }

  async function fail(path: string, forwardedFor: string): Promise<number | undefined> {
    return (await enterPassword(path, 'wrong', { headers: { 'x-forwarded-for': forwardedFor } }))
      .status
  }

  test('returns 429 to an address that failed ten times, even for the right password', async () => {
    const { key } = await createProtected()
    const address = newAddress()
    const headers = { 'x-forwarded-for': address }
    for (let index = 0; index < FAILURES_PER_ADDRESS; index += 1) {
      assert.equal(await fail(`/${key}`, address), 403)
    }
    const answer = await enterPassword(`/${key}`, PASSWORD, { headers })
    assert.equal(answer.status, 429)
    assert.equal(answer.headers.location, undefined)
    assert.equal(answer.headers['set-cookie'], undefined)
    const wait = Number(answer.headers['retry-after'])
    assert.ok(wait >= 1 && wait <= 60, `${wait}`)
    assert.match(answer.body, /Too many attempts/)
    assert.match(answer.body, new RegExp(`in ${wait}\u00a0second`))
    assert.equal((await visit(service.port, `/${key}`, { headers })).status, 200)
    assert.equal(
      (await enterPassword(`/${key}`, PASSWORD)).status,
      303,
      'other addresses are admitted',
    )
    const other = await createProtected()
    assert.equal((await enterPassword(`/${other.key}`, PASSWORD, { headers })).status, 303)
  })

  test('accepts any number of right passwords from one address', async () => {
    const { key } = await createProtected()
    const headers = { 'x-forwarded-for': newAddress() }
    // A busy machine checks few passwords in the time that visitors wait.
    const pair = () =>
      Promise.all([1, 2].map(() => enterPassword(`/${key}`, PASSWORD, { headers })))
    for (let nth = 0; nth < FAILURES_PER_ADDRESS; nth += 1) {
      for (const { status } of await pair()) assert.equal(status, 303)
    }
  })

  test('does not lock visitors out after malformed posts', async () => {
    const { key } = await createProtected()
    for (let index = 0; index < 110; index += 1) {
      const headers = {
        'content-type': 'text/plain',
        'x-forwarded-for': `2001:db8:0:${index % 10}::1`,
      }
      assert.equal((await post(`/${key}`, '', { headers })).status, 400)
    }
    assert.equal((await enterPassword(`/${key}`, PASSWORD)).status, 303)
    const headers = { 'x-forwarded-for': '2001:db8:0:1::2' }
    assert.equal((await enterPassword(`/${key}`, PASSWORD, { headers })).status, 303)
  })

  test('returns 503 with Retry-After when more passwords arrive than can be verified', async () => {
    const { key } = await createProtected()
    const answers = await Promise.all(
      Array.from({ length: 90 }, () => enterPassword(`/${key}`, PASSWORD)),
    )
    const busy = answers.filter(({ status }) => status === 503)
    assert.ok(busy.length > 0)
    assert.equal(answers.filter(({ status }) => status === 303).length, 90 - busy.length)
    for (const { body, headers } of busy) {
      assert.ok(Number(headers['retry-after']) >= 1)
      assert.match(body, /has not been checked yet/)
      assert.equal(headers['set-cookie'], undefined)
    }
    assert.equal((await enterPassword(`/${key}`, PASSWORD)).status, 303)
  })

  test('cannot be evaded with a forged X-Forwarded-For', async () => {
    const { key } = await createProtected()
    const address = newAddress()
    for (let index = 0; index < FAILURES_PER_ADDRESS; index += 1) {
      await fail(`/${key}`, `10.0.0.${index}, ${address}`)
    }
    assert.equal(await fail(`/${key}`, `10.0.1.1, ${address}`), 429)
  })
})

describe('password throttling without a trusted proxy', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE, {}, { clock: fakeClock(Date.now()) })
  })
  after(() => service.stop())

  test('counts by the address of the connection, whatever X-Forwarded-For contains', async () => {
    const { key } = await createLink(await service.api(), { password: PASSWORD })
    const enterPassword = (index: number, password: string) =>
      visit(service.port, `/${key}`, {
        method: 'POST',
        headers: {
          ...FORM,
          'x-forwarded-for': `198.51.100.${index}`,
          'x-forwarded-proto': 'https',
        },
        body: new URLSearchParams({ password }).toString(),
      })
    const answer = await enterPassword(0, PASSWORD)
    assert.equal(answer.status, 303)
    assert.doesNotMatch(String(answer.headers['set-cookie']), /Secure/)
    for (let index = 0; index < FAILURES_PER_ADDRESS; index += 1) {
      assert.equal((await enterPassword(index, 'wrong')).status, 403)
    }
    assert.equal((await enterPassword(99, PASSWORD)).status, 429)
  })
})
