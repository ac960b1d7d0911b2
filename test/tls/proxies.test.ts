import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { startCaddy } from '../support/caddy.ts'
import { SQLITE } from '../support/engines.ts'
import { handshake, visitSecurely } from '../support/https.ts'
import { startNginx } from '../support/nginx.ts'
import { getProgram, skipWithout } from '../support/programs.ts'
import type { ProxyProcess } from '../support/proxy-process.ts'
import { type Service, startService } from '../support/service.ts'

const OWN = 'go.acme.test'
const ACTIVE = 'links.acme.test'
const DESTINATION = 'https://example.com/there'
const YEAR = 31_536_000
const DESTINATION_LENGTH_MAX = 8_192
/** With the destination below 16 KiB, the limit of this test's client for an answer's head. */
const VISITOR_QUERY_LENGTH = 7_000

const PROXIES = [
  { name: 'caddy', start: startCaddy },
  {
    name: 'nginx',
    start: (program: string, port: number) => startNginx(program, port, [OWN, ACTIVE]),
  },
] as const

for (const { name, start } of PROXIES) {
  describe(`${name} in front, configured as in its example`, { skip: skipWithout(name) }, () => {
    let service: Service
    let proxy: ProxyProcess
    let ca: string
    let id: string
    before(async () => {
      service = await startService(SQLITE, {
        TERSE_BASE_URL: `https://${OWN}`,
        TERSE_DOMAIN_PROOF: 'none',
        TERSE_TRUST_PROXY: '127.0.0.1,::1',
      })
      const api = await service.api('acme')
      id = expectStatus(await api.post('/domains', { domain: ACTIVE }), 201).body.id
      const link = { domain: ACTIVE, key: 'x', url: DESTINATION }
      expectStatus(await api.post('/links', link), 201)
      proxy = await start(getProgram(name), service.port)
      ca = proxy.authorityPem
    })
    after(async () => {
      await proxy.stop()
      await service.stop()
    })

    test('serves a certificate for a domain of Terse, and its link', async () => {
      const answer = await visitSecurely(proxy.httpsPort, ACTIVE, '/x?q=1', { ca })
      assert.equal(answer.status, 302)
      assert.equal(answer.headers.location, `${DESTINATION}?q=1`)
      const listed = await visitSecurely(proxy.httpsPort, OWN, '/api/v1/links', { ca })
      assert.equal(listed.status, 401)
    })

    test('passes on the longest destinations, with a long query appended', async () => {
      const api = await service.api('acme')
      const longest = `https://example.com/${'d'.repeat(DESTINATION_LENGTH_MAX - 20)}`
      const link = { domain: ACTIVE, key: 'long', url: longest }
      expectStatus(await api.post('/links', link), 201)
      const query = `?q=${'v'.repeat(VISITOR_QUERY_LENGTH)}`
      for (const expected of ['', query]) {
        const answer = await visitSecurely(proxy.httpsPort, ACTIVE, `/long${expected}`, { ca })
        assert.equal(answer.status, 302)
        assert.equal(answer.headers.location, longest + expected)
      }
    })

    test('rejects handshakes for a name that is not active in Terse', async () => {
      const attempt = handshake(proxy.httpsPort, 'stranger.test', { rejectUnauthorized: false })
      await assert.rejects(attempt)
    })

    test('hides the internal endpoint from visitors, whatever host they name', async () => {
      const path = `/internal/tls/allow?domain=${ACTIVE}`
      for (const host of [ACTIVE, OWN, '127.0.0.1', 'localhost']) {
        const answer = await visitSecurely(proxy.httpsPort, ACTIVE, path, { ca, host })
        assert.equal(answer.status, 404, host)
      }
    })

    test('passes on the HSTS header of a domain', async () => {
      const api = await service.api('acme')
      expectStatus(await api.put(`/domains/${id}/https`, { hsts_max_age: YEAR }), 200)
      const answer = await visitSecurely(proxy.httpsPort, ACTIVE, '/x', { ca })
      assert.equal(answer.headers['strict-transport-security'], `max-age=${YEAR}`)
    })
  })
}
