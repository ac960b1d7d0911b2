import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { SQLITE } from '../support/engines.ts'
import { UNKNOWN_ID } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'
import { DOMAIN_FIELDS } from './domain-fields.ts'

const GONE = 'https://example.com/gone'
const OVER = 'https://example.com/over'

describe('PUT and PATCH /api/v1/domains/{id}', () => {
  let service: Service
  let api: Api
  before(async () => {
    service = await startService(SQLITE)
    api = await service.api()
  })
  after(() => service.stop())

  // biome-ignore lint/suspicious/noExplicitAny: the resource as returned
  async function create(domain: string, rest: object = {}): Promise<any> {
    const created = expectStatus(await api.post('/domains', { domain, ...rest }), 201).body
    return expectStatus(await api.get(`/domains/${created.id}`), 200).body
  }

  const visitLocation = async (host: string, path: string) =>
    (await visit(service.port, path, { host })).headers.location

  test('return 200 with the updated domain and a later updated_at', async () => {
    const before = await create('answer.localhost')
    const sent = { domain: 'answer.localhost', not_found_url: GONE, expired_url: OVER }
    const { body } = expectStatus(await api.put(`/domains/${before.id}`, sent), 200)
    assert.deepEqual(Object.keys(body), DOMAIN_FIELDS)
    const { updated_at, ...rest } = body
    assert.deepEqual(rest, {
      id: before.id,
      workspace_id: before.workspace_id,
      domain: 'answer.localhost',
      status: 'active',
      not_found_url: GONE,
      expired_url: OVER,
      created_at: before.created_at,
    })
    assert.ok(updated_at > before.updated_at)
    assert.deepEqual((await api.get(`/domains/${before.id}`)).body, body)
  })

  for (const method of ['PUT', 'PATCH'] as const) {
    const send = (id: string, body: object) =>
      method === 'PUT' ? api.put(`/domains/${id}`, body) : api.patch(`/domains/${id}`, body)

    test(`${method} keeps omitted fields and clears null fields`, async () => {
      const domain = `${method.toLowerCase()}.localhost`
      const { id } = await create(domain, { not_found_url: GONE, expired_url: OVER })
      const kept = expectStatus(await send(id, { domain }), 200).body
      assert.deepEqual([kept.not_found_url, kept.expired_url], [GONE, OVER])
      const half = expectStatus(await send(id, { domain, not_found_url: null }), 200).body
      assert.deepEqual([half.not_found_url, half.expired_url], [null, OVER])
      const none = expectStatus(await send(id, { domain, expired_url: null }), 200).body
      assert.deepEqual([none.not_found_url, none.expired_url], [null, null])
      assert.equal(none.status, 'active')
    })

    test(`${method} accepts the body of GET, and ignores read-only fields`, async () => {
      const before = await create(`${method.toLowerCase()}-round.localhost`)
      const sent = { ...before, not_found_url: GONE, status: 'pending', workspace_id: UNKNOWN_ID }
      const { body } = expectStatus(await send(before.id, sent), 200)
      const { updated_at } = body
      assert.deepEqual(body, { ...before, not_found_url: GONE, updated_at })
    })

    test(`${method} reports every wrong field and changes nothing`, async () => {
      const before = await create(`${method.toLowerCase()}-wrong.localhost`)
      const wrong = { domain: 'co.uk', not_found_url: 'nope', expired_url: 'data:,x' }
      const fields = ['domain', 'expired_url', 'not_found_url']
      expectProblem(await send(before.id, wrong), 'validation_failed', fields)
      const unknown = { domain: before.domain, expired_uri: OVER }
      expectProblem(await send(before.id, unknown), 'validation_failed', ['expired_uri'])
      const own = { domain: before.domain, not_found_url: `https://${before.domain}/?a=1` }
      expectProblem(await send(before.id, own), 'validation_failed', ['not_found_url'])
      const shared = { domain: 'localhost' }
      expectProblem(await send(before.id, shared), 'validation_failed', ['domain'])
      assert.deepEqual((await api.get(`/domains/${before.id}`)).body, before)
    })

    test(`${method} returns 404 for an unknown or malformed id`, async () => {
      for (const id of [UNKNOWN_ID, 'none', `${UNKNOWN_ID}0`]) {
        expectProblem(await send(id, { domain: 'nobody.acme.test' }), 'not_found')
      }
    })
  }

  test('PUT requires the domain, PATCH does not', async () => {
    const { id } = await create('subset.localhost')
    expectProblem(await api.put(`/domains/${id}`, {}), 'validation_failed', ['domain'])
    expectStatus(await api.patch(`/domains/${id}`, {}), 200)
    const { body } = expectStatus(await api.patch(`/domains/${id}`, { expired_url: OVER }), 200)
    assert.equal(body.expired_url, OVER)
    assert.equal(body.domain, 'subset.localhost')
    for (const domain of [null, 7, '']) {
      expectProblem(await api.patch(`/domains/${id}`, { domain }), 'validation_failed', ['domain'])
    }
  })

  test('changed fallback URLs take effect at once', async () => {
    const host = 'fallback.localhost'
    const { id } = await create(host)
    const expired = { domain: host, key: 'old', expires_at: '2020-01-01T00:00:00Z', url: GONE }
    expectStatus(await api.post('/links', expired), 201)
    assert.equal((await visit(service.port, '/', { host })).status, 404)
    assert.equal((await visit(service.port, '/old', { host })).status, 410)
    await api.patch(`/domains/${id}`, { not_found_url: GONE, expired_url: OVER })
    assert.equal(await visitLocation(host, '/'), GONE)
    assert.equal(await visitLocation(host, '/no-such-key'), GONE)
    assert.equal(await visitLocation(host, '/old'), OVER)
    await api.patch(`/domains/${id}`, { not_found_url: null, expired_url: null })
    assert.equal((await visit(service.port, '/', { host })).status, 404)
    assert.equal((await visit(service.port, '/old', { host })).status, 410)
  })

  test('renaming makes the domain pending again, and its links move with it', async () => {
    const { id } = await create('before.localhost')
    const sent = { domain: 'before.localhost', key: 'k', url: 'https://example.com/k' }
    const link = expectStatus(await api.post('/links', sent), 201).body
    assert.equal(await visitLocation('before.localhost', '/k'), 'https://example.com/k')

    const renamed = await api.put(`/domains/${id}`, { domain: 'after.acme.test' })
    assert.equal(expectStatus(renamed, 200).body.status, 'pending')
    assert.equal((await api.get(`/domains/${id}`)).body.status, 'pending')
    const moved = (await api.get(`/links/${link.id}`)).body
    assert.equal(moved.domain, 'after.acme.test')
    assert.equal(moved.link, 'https://after.acme.test/k')
    assert.equal((await api.get('/links?domain=after.acme.test')).body.meta.total, 1)
    assert.equal((await api.get('/links?domain=before.localhost')).body.meta.total, 0)
    for (const host of ['before.localhost', 'after.acme.test']) {
      const answer = await visit(service.port, '/k', { host })
      assert.equal(answer.status, 404, host)
      assert.match(answer.body, /not in use here/)
    }

    const proved = await api.patch(`/domains/${id}`, { domain: 'proved.localhost' })
    assert.equal(expectStatus(proved, 200).body.status, 'active')
    assert.equal(await visitLocation('proved.localhost', '/k'), 'https://example.com/k')
    assert.equal(await visitLocation('after.acme.test', '/k'), undefined)
  })

  test('the same name in other letter case does not count as renaming', async () => {
    const { id } = await create('letters.localhost')
    const answer = await api.patch(`/domains/${id}`, { domain: 'LETTERS.localhost.' })
    const { body } = expectStatus(answer, 200)
    assert.equal(body.domain, 'letters.localhost')
    assert.equal(body.status, 'active')
  })

  test('renaming to a host that the workspace already has returns 422 on domain', async () => {
    const { id } = await create('mover.localhost')
    await create('taken.acme.test')
    const taken = await api.patch(`/domains/${id}`, { domain: 'taken.acme.test' })
    expectProblem(taken, 'validation_failed', ['domain'])

    const left = await create('left.localhost')
    await api.post('/links', { domain: 'left.localhost', url: 'https://example.com/' })
    await api.delete(`/domains/${left.id}`)
    const stillLinks = await api.patch(`/domains/${id}`, { domain: 'left.localhost' })
    expectProblem(stillLinks, 'validation_failed', ['domain'])
    assert.equal((await api.get(`/domains/${id}`)).body.domain, 'mover.localhost')
  })

  test('renaming to a host that formerly had a domain without links succeeds', async () => {
    const { id } = await create('second.localhost')
    const { id: first } = await create('first.localhost')
    await api.delete(`/domains/${first}`)
    const answer = await api.patch(`/domains/${id}`, { domain: 'first.localhost' })
    assert.equal(expectStatus(answer, 200).body.status, 'active')
  })
})
