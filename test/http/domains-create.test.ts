import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import { DOMAIN_FIELDS } from './domain-fields.ts'

const BAD_FALLBACKS = [
  'nope',
  '/relative',
  '//example.com/',
  'ftp://example.com/',
  'javascript:alert(1)',
  'myapp://open',
  'https://user:secret@example.com/',
  `https://example.com/${'a'.repeat(8192)}`,
  'https://example.com/\r\nSet-Cookie: a=b',
  '',
  7,
  {},
]

describe('POST /api/v1/domains', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE, { TERSE_APP_SCHEMES: 'myapp' })
    api = await service.api()
  })
  after(() => service.stop())

  test('returns 201 with the 8 fields of the specification, in order', async () => {
    const { body } = expectStatus(await api.post('/domains', { domain: 'go.acme.test' }), 201)
    assert.deepEqual(Object.keys(body), DOMAIN_FIELDS)
    assert.match(body.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(body.workspace_id, (await service.instance.workspaces.get('acme')).id)
    assert.equal(body.domain, 'go.acme.test')
    assert.equal(body.status, 'pending')
    assert.equal(body.not_found_url, null)
    assert.equal(body.expired_url, null)
    assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
    assert.equal(body.updated_at, body.created_at)
  })

  test('returns pending for a name under localhost, and activates it at once', async () => {
    const created = expectStatus(await api.post('/domains', { domain: 'go.localhost' }), 201).body
    assert.equal(created.status, 'pending')
    const { body } = expectStatus(await api.get(`/domains/${created.id}`), 200)
    assert.equal(body.status, 'active')
    assert.equal(body.created_at, created.created_at)
    assert.ok(body.updated_at > created.updated_at)

    await api.post('/links', { domain: 'go.localhost', key: 'k', url: 'https://example.com/k' })
    const answer = await visit(service.port, '/k', { host: `go.localhost:${service.port}` })
    assert.equal(answer.headers.location, 'https://example.com/k')
  })

  test('keeps every other name pending, and serves no link on it', async () => {
    const { body } = expectStatus(await api.post('/domains', { domain: 'wait.acme.test' }), 201)
    const link = { domain: 'wait.acme.test', key: 'k', url: 'https://example.com/hidden' }
    expectStatus(await api.post('/links', link), 201)
    const answer = await visit(service.port, '/k', { host: 'wait.acme.test' })
    assert.equal(answer.status, 404)
    assert.match(answer.body, /wait\.acme\.test/)
    assert.doesNotMatch(answer.body, /example\.com/)
    assert.equal((await api.get(`/domains/${body.id}`)).body.status, 'pending')
  })

  test('ignores read-only fields in the request', async () => {
    const sent = {
      domain: 'eager.acme.test',
      status: 'active',
      id: 'mine',
      workspace_id: 'yours',
    }
    const { body } = expectStatus(await api.post('/domains', sent), 201)
    const shown = (await api.get(`/domains/${body.id}`)).body
    assert.equal(shown.status, 'pending')
    assert.equal(shown.workspace_id, (await service.instance.workspaces.get('acme')).id)
  })

  test('stores both fallback URLs in ASCII', async () => {
    const sent = {
      domain: 'fall.acme.test',
      not_found_url: 'https://münchen.example/gone?q=ü',
      expired_url: 'HTTPS://Example.com',
    }
    const { body } = expectStatus(await api.post('/domains', sent), 201)
    assert.equal(body.not_found_url, 'https://xn--mnchen-3ya.example/gone?q=%C3%BC')
    assert.equal(body.expired_url, 'https://example.com/')
    const shown = (await api.get(`/domains/${body.id}`)).body
    assert.deepEqual({ ...shown, status: 'pending' }, body)
  })

  for (const bad of BAD_FALLBACKS) {
    const shown = JSON.stringify(bad).slice(0, 50)
    test(`returns 422 for the fallback URL ${shown}, on both fields`, async () => {
      const sent = { domain: 'bad.acme.test', not_found_url: bad, expired_url: bad }
      const answer = await api.post('/domains', sent)
      expectProblem(answer, 'validation_failed', ['not_found_url', 'expired_url'])
    })
  }

  test('returns 422 for a page for missing keys that is the root of the domain', async () => {
    for (const url of ['https://own.acme.test/', 'https://OWN.acme.test./?a=1']) {
      const sent = { domain: 'own.acme.test', not_found_url: url, expired_url: url }
      const answer = await api.post('/domains', sent)
      expectProblem(answer, 'validation_failed', ['not_found_url'])
    }
    const link = 'https://own.acme.test/missing'
    const sent = { domain: 'own.acme.test', not_found_url: link, expired_url: link }
    const { id } = expectStatus(await api.post('/domains', sent), 201).body
    const loop = { not_found_url: 'https://own.acme.test' }
    expectProblem(await api.patch(`/domains/${id}`, loop), 'validation_failed', ['not_found_url'])
  })

  test('returns 422 on domain for a host that the workspace already has', async () => {
    expectStatus(await api.post('/domains', { domain: 'twice.acme.test' }), 201)
    for (const again of ['twice.acme.test', 'TWICE.acme.test.']) {
      expectProblem(await api.post('/domains', { domain: again }), 'validation_failed', ['domain'])
    }
  })

  test('returns 422 for a host that a link has claimed', async () => {
    await api.post('/links', { domain: 'linked.acme.test', url: 'https://example.com/' })
    const answer = await api.post('/domains', { domain: 'linked.acme.test' })
    expectProblem(answer, 'validation_failed', ['domain'])
  })

  test('reports every wrong field at once', async () => {
    const sent = { domain: 'co.uk', not_found_url: 'nope', expired_url: 'ftp://example.com/' }
    const answer = await api.post('/domains', sent)
    expectProblem(answer, 'validation_failed', ['domain', 'not_found_url', 'expired_url'])
  })
})

describe('POST /api/v1/domains with TERSE_DOMAIN_PROOF=none', () => {
  let service: Service
  before(async () => {
    service = await startService(SQLITE, {
      TERSE_DOMAIN_PROOF: 'none',
      TERSE_BASE_URL: 'https://short.acme.test',
    })
  })
  after(() => service.stop())

  test('activates any domain at once', async () => {
    const api = await service.api()
    const created = expectStatus(await api.post('/domains', { domain: 'go.acme.test' }), 201).body
    assert.equal(created.status, 'pending')
    assert.equal((await api.get(`/domains/${created.id}`)).body.status, 'active')
    await api.post('/links', { domain: 'go.acme.test', key: 'k', url: 'https://example.com/k' })
    const answer = await visit(service.port, '/k', { host: 'go.acme.test' })
    assert.equal(answer.status, 302)
  })

  for (const own of ['short.acme.test', 'SHORT.Acme.Test', 'short.acme.test.']) {
    test(`returns 422 for the service’s own host, written ${own}`, async () => {
      const answer = await (await service.api()).post('/domains', { domain: own })
      expectProblem(answer, 'validation_failed', ['domain'])
    })
  }
})
