import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { type Service, startService } from '../support/service.ts'
import { type VisitAnswer, type VisitOptions, visit } from '../support/visit.ts'
import { AGENTS } from './agents.ts'
import { createLink, DESTINATION } from './create.ts'

const PASSWORD = 'sesame & ü'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

function pairOf(answer: VisitAnswer): string {
  const [cookie = '', ...others] = answer.headers['set-cookie'] ?? []
  assert.deepEqual(others, [])
  return cookie.split(';', 1)[0] ?? ''
}

describe('a link with a password', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE, { TERSE_TRUST_PROXY: '127.0.0.1' })
    api = await service.api()
  })
  after(() => service.stop())

  const createProtected = (fields: Record<string, unknown> = {}) =>
    createLink(api, { password: PASSWORD, ...fields })

  // The tests act as a trusted proxy and give each visitor a different address.
  let visitors = 0
  const newAddress = () => {
    visitors += 1
    return `198.51.100.${visitors}`
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

  const withCookie = (path: string, cookie: string) =>
    visit(service.port, path, { headers: { cookie } })

  test('keeps the variant of a visitor beside the password that the form has', async () => {
    const { id, key } = await createProtected()
    const variant = (name: string) => ({ name, url: `https://example.com/${name}`, weight: 1 })
    const split = { split: [variant('a'), variant('b')], remember_days: 30 }
    expectStatus(await api.put(`/links/${id}/rules`, { rules: [{ id: 'ab', then: split }] }), 200)
    const first = await enterPassword(`/${key}`, PASSWORD)
    const pairs = (first.headers['set-cookie'] ?? []).map((text) => text.split(';', 1)[0] ?? '')
    assert.match(pairs.join(' '), /^terse_password=\S+ terse_variant_ab=[ab]\./)
    const back = { headers: { cookie: pairs[1] ?? '', 'user-agent': AGENTS.iPhone } }
    for (let visit = 0; visit < 4; visit += 1) {
      const again = await enterPassword(`/${key}`, PASSWORD, back)
      assert.equal(again.headers.location, first.headers.location)
      assert.equal(again.headers['set-cookie']?.length, 1)
    }
  })

  test('shows a form, and does not reveal the destination', async () => {
    const { key } = await createProtected()
    const { status, headers, body } = await visit(service.port, `/${key}`)
    assert.equal(status, 200)
    assert.match(body, /<form method="post">/)
    assert.equal(headers.location, undefined)
    assert.equal(headers['set-cookie'], undefined)
    assert.ok(!body.includes(DESTINATION))
    assert.ok(!body.includes('role="alert"'), 'no error is shown yet')
  })

  test('redirects at once for the right password, without cookies', async () => {
    const { key } = await createProtected()
    const { status, headers, body } = await enterPassword(`/${key}`, PASSWORD)
    assert.equal(status, 303)
    assert.equal(headers.location, DESTINATION)
    assert.equal(headers['cache-control'], 'private, no-store')
    assert.equal(headers['referrer-policy'], 'strict-origin-when-cross-origin')
    assert.equal(headers['x-robots-tag'], 'noindex')
    assert.equal(body, '')
  })

  test('redirects by device, with the visitor’s query', async () => {
    const { key } = await createProtected({ ios: 'https://ios.example/', utm_source: 'x' })
    const headers = { 'user-agent': AGENTS.iPhone }
    const answer = await enterPassword(`/${key}?a=1`, PASSWORD, { headers })
    assert.equal(answer.headers.location, 'https://ios.example/?utm_source=x&a=1')
  })

  for (const wrong of ['', 'sesame', `${PASSWORD} `, PASSWORD.toUpperCase()]) {
    test(`returns 403 and the form again for "${wrong}"`, async () => {
      const { key } = await createProtected()
      const { status, headers, body } = await enterPassword(`/${key}`, wrong)
      assert.equal(status, 403)
      assert.equal(headers.location, undefined)
      assert.equal(headers['set-cookie'], undefined)
      assert.match(body, /role="alert"[^>]*>.*That password is incorrect\./)
      assert.match(body, /<form method="post">/)
      assert.ok(wrong === '' || !body.includes(wrong), 'the page does not repeat the password')
    })
  }

  test('refuses the sealed password that the API returns', async () => {
    const { key, password } = await createProtected()
    assert.equal((await enterPassword(`/${key}`, password)).status, 403)
  })

  const malformed: readonly [string, VisitOptions][] = [
    ['JSON', { headers: { 'content-type': 'application/json' }, body: '{"password":"x"}' }],
    ['a form without a content type', { headers: { 'content-type': '' }, body: 'password=x' }],
    ['a form without the field', { body: 'pass=x' }],
    ['a form that is too long', { body: `password=${'x'.repeat(9_000)}` }],
  ]
  for (const [what, options] of malformed) {
    test(`returns 400 for ${what}`, async () => {
      const { key } = await createProtected()
      const answer = await post(`/${key}`, options.body ?? '', options)
      assert.equal(answer.status, 400)
      assert.equal(answer.headers.location, undefined)
      assert.match(answer.body, /This request cannot be answered/)
    })
  }

  test('sets a cookie for this path alone, for ten minutes', async () => {
    const { key } = await createProtected({ key: 'deep/secret' })
    const answer = await enterPassword(`/${key}`, PASSWORD)
    assert.match(
      String(answer.headers['set-cookie']),
      /^terse_password=\d+\.[\w-]{43}; Path=\/deep\/secret; Max-Age=600; HttpOnly; SameSite=Lax$/,
    )
    const expires = Number(/=(\d+)\./.exec(pairOf(answer))?.[1])
    const expected = Date.now() / 1_000 + 600
    assert.ok(Math.abs(expires - expected) < 10, `${expires} is not about ${expected}`)
  })

  test('sets a Secure cookie when the proxy received HTTPS', async () => {
    const { key } = await createProtected()
    const headers = { 'x-forwarded-proto': 'https' }
    const answer = await enterPassword(`/${key}`, PASSWORD, { headers })
    assert.match(String(answer.headers['set-cookie']), /; Secure$/)
  })

  test('redirects a visitor with the cookie', async () => {
    const { key } = await createProtected()
    const cookie = pairOf(await enterPassword(`/${key}`, PASSWORD))
    const { status, headers } = await withCookie(`/${key}?a=1`, cookie)
    assert.equal(status, 302)
    assert.equal(headers.location, `${DESTINATION}?a=1`)
    assert.equal(headers['set-cookie'], undefined, 'the cookie is not prolonged')
  })

  test('refuses the cookie of another link, even one with the same password', async () => {
    const one = await createProtected()
    const other = await createProtected()
    const cookie = pairOf(await enterPassword(`/${one.key}`, PASSWORD))
    const { status, headers } = await withCookie(`/${other.key}`, cookie)
    assert.equal(status, 200)
    assert.equal(headers.location, undefined)
  })

  test('refuses an altered cookie', async () => {
    const { key } = await createProtected()
    const cookie = pairOf(await enterPassword(`/${key}`, PASSWORD))
    const [, expires = '', signature = ''] = /=(\d+)\.(.*)$/.exec(cookie) ?? []
    const later = `terse_password=${Number(expires) + 600}.${signature}`
    const forged = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    const other = `terse_password=${expires}.${forged}`
    for (const altered of [later, other, 'terse_password=1', '']) {
      assert.equal((await withCookie(`/${key}`, altered)).status, 200, altered)
    }
  })

  test('refuses the cookie of an old password, and the old password itself', async () => {
    const { id, key } = await createProtected()
    const cookie = pairOf(await enterPassword(`/${key}`, PASSWORD))
    await api.patch(`/links/${id}`, { password: 'another' })
    assert.equal((await withCookie(`/${key}`, cookie)).status, 200)
    assert.equal((await enterPassword(`/${key}`, PASSWORD)).status, 403)
    assert.equal((await enterPassword(`/${key}`, 'another')).status, 303)
  })

  test('accepts the cookie after a change that kept the password', async () => {
    const { id, key, password } = await createProtected()
    const cookie = pairOf(await enterPassword(`/${key}`, PASSWORD))
    await api.patch(`/links/${id}`, { url: 'https://example.com/new', password })
    const { headers } = await withCookie(`/${key}`, cookie)
    assert.equal(headers.location, 'https://example.com/new')
  })

  test('redirects like any other link after the password was removed', async () => {
    const { id, key } = await createProtected()
    await api.patch(`/links/${id}`, { password: null })
    assert.equal((await visit(service.port, `/${key}`)).status, 302)
    assert.equal((await enterPassword(`/${key}`, PASSWORD)).status, 405)
  })
})
