import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { NO_DNS } from '../support/no-dns.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { runCommand } from '../support/run-command.ts'

const SETTINGS = {
  TERSE_DOMAIN_PROOF: 'routing',
  TERSE_BASE_URL: 'https://go.terse.test',
  TERSE_DNS_TARGET: 'edge.terse-dns.test',
}

onSqlite(
  'reserved names with TERSE_DOMAIN_PROOF=routing',
  (stage) => {
    for (const domain of [
      'terse.test',
      'www.terse.test',
      'a.b.terse.test',
      'edge.terse-dns.test',
      'terse-dns.test',
    ]) {
      test(`returns 422 for ${domain} as a domain and for a link`, async () => {
        const { api } = stage
        expectProblem(await api.post('/domains', { domain }), 'validation_failed', ['domain'])
        const link = { domain, key: 'k', url: 'https://example.com/' }
        expectProblem(await api.post('/links', link), 'validation_failed', ['domain'])
      })
    }

    test('accepts other names, and returns 422 for renaming one to a reserved name', async () => {
      const { api } = stage
      const { id } = expectStatus(await api.post('/domains', { domain: 'go.acme.test' }), 201).body
      const answer = await api.patch(`/domains/${id}`, { domain: 'l.terse.test' })
      const { body } = expectProblem(answer, 'validation_failed', ['domain'])
      assert.match(body.errors.domain[0], /only the operator/)
    })

    test('lets the operator add one, which then needs its TXT record', async () => {
      const { api, service } = stage
      const env = { ...service.place.env, ...SETTINGS, TERSE_DNS_SERVERS: NO_DNS }
      const added = await runCommand(['domain', 'add', 'l.terse.test', '--workspace', 'acme'], env)
      assert.match(added.stdout, /TXT +_terse\.l +terse-verify=/)
      const { data } = expectStatus(await api.get('/domains'), 200).body
      const [claim] = data.filter(({ domain }: { domain: string }) => domain === 'l.terse.test')
      const update = { domain: 'l.terse.test', expired_url: 'https://example.com/' }
      expectStatus(await api.put(`/domains/${claim.id}`, update), 200)
      const link = { domain: 'l.terse.test', key: 'k', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
      const report = expectStatus(await api.get(`/domains/${claim.id}/dns`), 200).body
      assert.equal(report.proof, 'dns')
    })
  },
  SETTINGS,
)

onSqlite(
  'reserved names with TERSE_RESERVED_DOMAINS=none',
  (stage) => {
    test('accepts a sibling of the service’s host', async () => {
      expectStatus(await stage.api.post('/domains', { domain: 'l.terse.test' }), 201)
    })
  },
  { ...SETTINGS, TERSE_RESERVED_DOMAINS: 'none' },
)
