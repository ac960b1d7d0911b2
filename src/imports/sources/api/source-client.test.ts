import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { z } from 'zod'
import {
  type ApiAnswer,
  type FakeWaitingClock,
  fakeWaitingClock,
  type SourceApi,
  startSourceApi,
} from '../../../../test/support/source-api.ts'
import { closeAgents, guardedAgents } from '../../../platform/network/outgoing-request.ts'
import { ImportSourceFault } from '../../import-source.ts'
import { SourceClient } from './source-client.ts'

const TOKEN = 'very-secret-token'
const SIGNAL = new AbortController().signal
const REQUEST = {
  path: '/links',
  query: { page: 1 },
  schema: z.object({ links: z.number() }),
  signal: SIGNAL,
}

describe('SourceClient', () => {
  let api: SourceApi
  let clock: FakeWaitingClock
  const agents = guardedAgents(() => true)

  before(async () => {
    api = await startSourceApi(() => ({ json: { links: 7 } }))
  })
  beforeEach(() => {
    api.requests.length = 0
    clock = fakeWaitingClock()
  })
  after(async () => {
    closeAgents(agents)
    await api.close()
  })

  function clientOf(options: { url?: string; timeoutMs?: number } = {}): SourceClient {
    return new SourceClient({
      agents,
      clock,
      service: 'Example',
      url: api.url,
      headers: { authorization: `Bearer ${TOKEN}` },
      limits: [{ requests: 1_000, perMs: 1_000 }],
      ...options,
    })
  }

  async function faultOf(reading: Promise<unknown>): Promise<ImportSourceFault> {
    const error = await reading.then(
      () => assert.fail('the request succeeded'),
      (rejected) => rejected,
    )
    assert.ok(error instanceof ImportSourceFault, String(error))
    assert.doesNotMatch(error.message, new RegExp(TOKEN))
    return error
  }

  test('sends the token, and names itself', async () => {
    assert.deepEqual(await clientOf().read(REQUEST), { links: 7 })
    const [request] = api.requests
    assert.equal(request?.headers.authorization, `Bearer ${TOKEN}`)
    assert.match(String(request?.headers['user-agent']), /^terse\//)
  })

  const passing: [string, ApiAnswer[], number[]][] = [
    ['429 with Retry-After in seconds', [limited('7')], [7_000]],
    ['429 with Retry-After as a date', [limited('Sun, 22 Nov 2026 09:00:30 GMT')], [30_000]],
    ['429 without Retry-After', [limited()], [3_750]],
    ['503, twice', [failed(503), failed(503)], [750, 1_500]],
    ['503 with Retry-After', [failed(503, { 'retry-after': '20' })], [20_000]],
    ['a connection that is cut', ['cut'], [750]],
    ['JSON that is broken', [{ text: '{"links": "a "quoted" title"}' }], [750]],
  ]
  for (const [name, faults, waitsMs] of passing) {
    test(`reads again after ${name}`, async () => {
      api.faults.push(...faults)
      assert.deepEqual(await clientOf().read(REQUEST), { links: 7 })
      assert.deepEqual(clock.waitsMs, waitsMs)
    })
  }

  test('reads again after a time-out', async () => {
    api.faults.push('silent')
    assert.deepEqual(await clientOf({ timeoutMs: 500 }).read(REQUEST), { links: 7 })
    assert.equal(api.requests.length, 2)
  })

  test('repairs JSON that is broken the second time too', async () => {
    const broken = { text: '{"links": 7, "title": "a "quoted" title"}' }
    api.faults.push(broken, broken)
    const repair = (text: string) => text.replaceAll('"quoted"', '')
    assert.deepEqual(await clientOf().read({ ...REQUEST, repair }), { links: 7 })
    assert.equal(api.requests.length, 2)
  })

  test('gives up after eight attempts, for now', async () => {
    api.faults.push(...Array.from({ length: 8 }, () => failed(500)))
    const fault = await faultOf(clientOf().read(REQUEST))
    assert.ok(fault.isTransient)
    assert.equal(api.requests.length, 8)
    assert.match(fault.message, /^Example at 127\.0\.0\.1:\d+ failed \(status 500\)\.$/)
  })

  test('does not wait longer than a quarter of an hour', async () => {
    api.faults.push(limited('3600'))
    const fault = await faultOf(clientOf().read(REQUEST))
    assert.ok(fault.isTransient)
    assert.match(fault.message, /for 3600 seconds/)
    assert.deepEqual(clock.waitsMs, [])
  })

  const final: [string, ApiAnswer, RegExp][] = [
    ['401', failed(401), /refused the token \(status 401\)/],
    ['404', failed(404), /refused \/links \(status 404\)/],
    ['a redirect', failed(302, { location: 'http://203.0.113.1/' }), /redirects \/links/],
    ['another shape', { json: { links: 'many' } }, /sent what it should not at \/links: links: /],
  ]
  for (const [name, answer, message] of final) {
    test(`fails at once on ${name}`, async () => {
      api.faults.push(answer)
      const fault = await faultOf(clientOf().read(REQUEST))
      assert.ok(!fault.isTransient)
      assert.match(fault.message, message)
      assert.equal(api.requests.length, 1)
    })
  }

  test('finds nothing where the service has nothing, or not for this account', async () => {
    for (const status of [402, 403, 404]) {
      api.faults.push(failed(status))
      assert.equal(await clientOf().find(REQUEST), undefined)
    }
  })

  test('fails at once at an address that must not be reached', async () => {
    const closed = guardedAgents(() => false)
    const client = new SourceClient({
      ...{ agents: closed, clock, service: 'Example', url: api.url, headers: {} },
      limits: [],
    })
    const fault = await faultOf(client.read(REQUEST))
    assert.match(fault.message, /must not be reached from here/)
    assert.equal(api.requests.length, 0)
    closeAgents(closed)
  })

  for (const url of ['ftp://example.com', 'example.com', 'https://me:pass@example.com']) {
    test(`refuses the address ${url}`, async () => {
      const fault = await faultOf((async () => clientOf({ url }))())
      assert.doesNotMatch(fault.message, /pass/)
    })
  }

  test('keeps each of several limits', async () => {
    const client = new SourceClient({
      ...{ agents, clock, service: 'Example', url: api.url, headers: {} },
      limits: [
        { requests: 2, perMs: 1_000 },
        { requests: 3, perMs: 60_000 },
      ],
    })
    for (let read = 0; read < 4; read += 1) await client.read(REQUEST)
    assert.deepEqual(clock.waitsMs, [1_000, 59_000])
  })
})

function limited(retryAfter?: string): ApiAnswer {
  return failed(429, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
}

function failed(status: number, headers: Record<string, string> = {}): ApiAnswer {
  return { status, text: `the token was ${TOKEN}`, headers }
}
