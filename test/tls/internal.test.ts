import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const OWN = 'go.acme.test'
const ACTIVE = 'links.acme.test'
const ASKED = 200
const MEDIAN_MS_MAX = 1

function ask(port: number, domain: string, host = `127.0.0.1:${port}`, headers = {}) {
  const path = `/internal/tls/allow?domain=${encodeURIComponent(domain)}`
  return visit(port, path, { host, headers })
}

describe('the internal endpoint for proxies', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE, {
      TERSE_BASE_URL: `https://${OWN}`,
      TERSE_DOMAIN_PROOF: 'none',
    })
    const api = await service.api('acme')
    expectStatus(await api.post('/domains', { domain: ACTIVE }), 201)
  })
  after(() => service.stop())

  test('answers whether a host is served here', async () => {
    for (const [domain, status] of [
      [OWN, 200],
      [ACTIVE, 200],
      [ACTIVE.toUpperCase(), 200],
      ['stranger.test', 404],
      [`x.${ACTIVE}`, 404],
      ['127.0.0.1', 404],
      ['', 400],
      ['a b', 400],
      [`${'a.'.repeat(200)}test`, 400],
    ] as const) {
      const answer = await ask(service.port, domain)
      assert.equal(answer.status, status, domain)
      assert.equal(answer.body, '')
    }
    const posted = await visit(service.port, `/internal/tls/allow?domain=${ACTIVE}`, {
      host: '127.0.0.1',
      method: 'POST',
    })
    assert.equal(posted.status, 405)
  })

  test('follows domains as they are added and removed', async () => {
    const api = await service.api('acme')
    const domain = 'fleeting.acme.test'
    assert.equal((await ask(service.port, domain)).status, 404)
    const { id } = expectStatus(await api.post('/domains', { domain }), 201).body
    await eventually(async () => assert.equal((await ask(service.port, domain)).status, 200))
    expectStatus(await api.delete(`/domains/${id}`), 200)
    await eventually(async () => assert.equal((await ask(service.port, domain)).status, 404))
  })

  test('is hidden from visitors that a proxy on this machine forwards', async () => {
    for (const headers of [
      { 'x-forwarded-for': '192.0.2.1' },
      { 'x-real-ip': '192.0.2.1' },
      { forwarded: 'for=192.0.2.1' },
      { via: '1.1 proxy' },
    ]) {
      const answer = await ask(service.port, ACTIVE, undefined, headers)
      assert.equal(answer.status, 404, JSON.stringify(headers))
      assert.match(answer.body, /not_found/)
    }
    for (const host of [OWN, ACTIVE, 'stranger.test']) {
      const answer = await ask(service.port, ACTIVE, host)
      assert.equal(answer.status, 404)
      assert.notEqual(answer.body, '')
    }
    assert.equal((await ask(service.port, ACTIVE, 'localhost')).status, 200)
  })

  test('answers from its cache, in less than a millisecond of this process', async () => {
    await ask(service.port, ACTIVE)
    const before = process.cpuUsage()
    for (let asked = 0; asked < ASKED; asked += 1) await ask(service.port, ACTIVE)
    const { user, system } = process.cpuUsage(before)
    // Both ends are in this process, and each request opens a connection.
    const ms = (user + system) / 1_000 / ASKED
    assert.ok(ms < 5 * MEDIAN_MS_MAX, `${ms.toFixed(2)} ms of processor time a question`)
  })
})

test('a separate internal listener answers only internal requests, and the public port none', async (t) => {
  const port = await freePort()
  const [engine] = ENGINES
  assert.ok(engine)
  const service = await startService(engine, {
    TERSE_BASE_URL: `https://${OWN}`,
    TERSE_INTERNAL_LISTEN: `127.0.0.1:${port}`,
  })
  t.after(() => service.stop())
  assert.equal((await ask(port, OWN, 'terse:3001')).status, 200)
  assert.equal((await ask(port, 'stranger.test', 'terse:3001')).status, 404)
  for (const path of ['/', '/docs', '/livez', '/internal', '/internal/tls/allow/']) {
    assert.equal((await visit(port, path, { host: OWN })).status, 404, path)
  }
  const answer = await ask(service.port, OWN)
  assert.equal(answer.status, 404)
  assert.match(answer.body, /not_found/)
})
