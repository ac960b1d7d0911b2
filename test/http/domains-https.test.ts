import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expectStatus } from '../support/api.ts'
import { expectInvalid } from '../support/expect-invalid.ts'
import { keepCertificate } from '../support/https.ts'
import { onSqlite } from '../support/on-each-engine.ts'
import { expectProblem } from '../support/problems.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { visit } from '../support/visit.ts'

const SETTINGS = { TERSE_DOMAIN_PROOF: 'none', TERSE_TRUST_PROXY: '127.0.0.1' }
const YEAR = 31_536_000

onSqlite(
  '/api/v1/domains/{id}/https',
  (stage) => {
    const create = async (domain: string, api = stage.api): Promise<string> =>
      expectStatus(await api.post('/domains', { domain }), 201).body.id
    const show = async (id: string) =>
      expectStatus(await stage.api.get(`/domains/${id}/https`), 200).body
    const setHsts = (id: string, value: unknown) =>
      stage.api.put(`/domains/${id}/https`, { hsts_max_age: value })

    /** The HSTS header that a visitor receives over HTTPS or plain HTTP. */
    async function hstsHeader(host: string, proto: 'https' | 'http'): Promise<string | undefined> {
      const headers = { 'x-forwarded-proto': proto, 'x-forwarded-for': '192.0.2.1' }
      const answer = await visit(stage.service.port, '/missing', { host, headers })
      return answer.headers['strict-transport-security']
    }

    test('returns the certificate of an active domain, and none of a pending one', async () => {
      const host = 'shown.acme.test'
      const id = await create(host)
      assert.deepEqual(await show(id), { domain: host, certificate: null, hsts_max_age: null })
      const life = {
        notBefore: new Date('2026-01-01T00:00:00Z'),
        notAfter: new Date('2026-03-01T00:00:00Z'),
      }
      await keepCertificate(stage.service.instance, host, createTestAuthority().issue(host, life))
      assert.deepEqual((await show(id)).certificate, {
        valid_from: '2026-01-01T00:00:00.000000Z',
        valid_until: '2026-03-01T00:00:00.000000Z',
      })
      const other = await stage.service.api('other')
      const pending = await create(host, other)
      const seen = expectStatus(await other.get(`/domains/${pending}/https`), 200).body
      assert.equal(seen.certificate, null)
    })

    test('sends HSTS over HTTPS while the workspace has set it', async () => {
      const [host, beside] = ['asked.acme.test', 'unasked.acme.test']
      const [id] = [await create(host), await create(beside)]
      assert.equal(await hstsHeader(host, 'https'), undefined)
      assert.equal(expectStatus(await setHsts(id, YEAR), 200).body.hsts_max_age, YEAR)
      assert.equal((await show(id)).hsts_max_age, YEAR)
      assert.equal(await hstsHeader(host, 'https'), `max-age=${YEAR}`)
      assert.equal(await hstsHeader(host, 'http'), undefined)
      assert.equal(await hstsHeader(beside, 'https'), undefined)
      expectStatus(await setHsts(id, 0), 200)
      assert.equal(await hstsHeader(host, 'https'), 'max-age=0')
      expectStatus(await setHsts(id, null), 200)
      assert.equal(await hstsHeader(host, 'https'), undefined)
    })

    test('clears HSTS when the domain is renamed', async () => {
      const id = await create('before.acme.test')
      expectStatus(await setHsts(id, YEAR), 200)
      expectStatus(await stage.api.patch(`/domains/${id}`, { domain: 'after.acme.test' }), 200)
      assert.equal((await show(id)).hsts_max_age, null)
      assert.equal(await hstsHeader('after.acme.test', 'https'), undefined)
    })

    test('returns 422 for an invalid hsts_max_age, and 403 or 404 without access', async () => {
      const id = await create('refused.acme.test')
      for (const value of [-1, 63_072_001, 1.5, '300', undefined]) {
        expectInvalid(await setHsts(id, value), 'hsts_max_age')
      }
      const reader = await stage.service.api('acme', ['domains:read'])
      const unseen = await stage.service.api('stranger')
      const path = `/domains/${id}/https`
      expectProblem(await reader.put(path, { hsts_max_age: 1 }), 'missing_scope')
      expectProblem(await unseen.put(path, { hsts_max_age: 1 }), 'not_found')
      expectProblem(await unseen.get(path), 'not_found')
      expectProblem(await stage.api.get('/domains/none/https'), 'not_found')
    })
  },
  SETTINGS,
)
