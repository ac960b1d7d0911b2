import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import {
  jsonRequest,
  type Operation,
  readOperations,
  UNKNOWN_ID,
  validRequest,
} from '../support/operations.ts'
import { expectProblem, withoutId } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'

const SHARED_TAG = 'spring'

for (const engine of ENGINES) {
  describe(`a workspace seen from another one, on ${engine.title}`, () => {
    let service: Service
    let owner: Api
    let stranger: Api
    let operations: readonly Operation[]
    /** The owner’s resource of each family. */
    const owned = {
      links: '',
      domains: '',
      'default-domain': '',
      labels: '',
      conversions: '',
      clicks: '',
      events: '',
      workspace: '',
      tags: '',
      'utm-templates': '',
      'rule-sets': '',
      previews: '',
      images: '',
      imports: '',
      webhooks: '',
    }
    before(async () => {
      service = await startService(engine)
      owner = await service.api('owner')
      stranger = await service.api('stranger')
      operations = await readOperations(service.baseUrl)
      const domain = { domain: 'owned.localhost', not_found_url: 'https://example.com/needle' }
      owned.domains = expectStatus(await owner.post('/domains', domain), 201).body.id
      expectStatus(await owner.put('/default-domain', { domain: domain.domain }), 200)
      const link = {
        domain: 'localhost',
        key: 'needle-key',
        url: 'https://example.com/needle-url',
        tags: [SHARED_TAG, 'needle-tag'],
        password: 'needle',
      }
      owned.links = expectStatus(await owner.post('/links', link), 201).body.id
      const template = await owner.post('/utm-templates', { name: 'needle-template' })
      owned['utm-templates'] = expectStatus(template, 201).body.id
      const set = await owner.post('/rule-sets', { name: 'needle-set' })
      owned['rule-sets'] = expectStatus(set, 201).body.id
      const hook = { url: 'https://hooks.example.com/needle', events: ['link.created'] }
      owned.webhooks = expectStatus(await owner.post('/webhooks', hook), 201).body.id
      const prepared = await owner.post('/imports', { source: 'csv' })
      owned.imports = expectStatus(prepared, 201).body.id
      const onOwned = { ...link, domain: 'owned.localhost' }
      expectStatus(await owner.post('/links', onOwned), 201)
      const own = {
        domain: 'localhost',
        key: 'own',
        url: 'https://example.com/',
        tags: [SHARED_TAG],
      }
      expectStatus(await stranger.post('/links', own), 201)
    })
    after(() => service.stop())

    const snapshot = async () => [
      (await owner.get('/links?sort=key')).body,
      (await owner.get('/domains')).body,
      (await owner.get('/default-domain')).body,
    ]

    test('every operation answers another workspace’s id exactly like an unknown one: 404', async () => {
      const before = await snapshot()
      const taking = operations.filter(({ takesId }) => takesId)
      assert.ok(taking.length >= 22)
      for (const operation of taking) {
        const send = (id: string) =>
          stranger.send(operation.method, operation.pathFor(id), validRequest(operation))
        const foreign = expectProblem(await send(owned[operation.family]), 'not_found')
        const unknown = expectProblem(await send(UNKNOWN_ID), 'not_found')
        assert.deepEqual(withoutId(foreign), withoutId(unknown), operation.name)
        const shown = (answer: typeof foreign) => [...answer.headers.keys()].toSorted()
        assert.deepEqual(shown(foreign), shown(unknown), operation.name)
      }
      assert.deepEqual(await snapshot(), before)
    })

    test('every operation answers an invalid request alike for both ids', async () => {
      for (const operation of operations) {
        if (!operation.takesId || operation.validBody === undefined) continue
        for (const body of ['{"bogus":1}', '{', '{"url":"nope","domain":"co.uk","color":"red"}']) {
          const send = (id: string) =>
            stranger.send(operation.method, operation.pathFor(id), jsonRequest(body))
          const foreign = await send(owned[operation.family])
          const unknown = await send(UNKNOWN_ID)
          assert.equal(foreign.status, unknown.status, operation.name)
          assert.deepEqual(withoutId(foreign), withoutId(unknown), operation.name)
        }
      }
    })

    test('the id of a link is unknown among domains, and vice versa', async () => {
      expectProblem(await owner.get(`/domains/${owned.links}`), 'not_found')
      expectProblem(await owner.get(`/links/${owned.domains}`), 'not_found')
    })

    for (const query of [
      'search=needle',
      'search=needle-url',
      'search=needle-tag',
      'search=e',
      'tag=needle-tag',
      `tag=${SHARED_TAG}`,
      'domain=owned.localhost',
      'domain=localhost',
      'domain=localhost&search=needle-key',
      'sort=clicks',
      'sort=-last_click',
      'per_page=100&page=1',
    ]) {
      test(`a list with ?${query} returns and counts only the caller’s own links`, async () => {
        const { body } = expectStatus(await stranger.get(`/links?${query}`), 200)
        assert.doesNotMatch(JSON.stringify(body.data), /needle|owned/)
        const isOwn = !/needle|owned/.test(query)
        assert.equal(body.meta.total, isOwn ? 1 : 0)
        assert.equal(body.data.length, isOwn ? 1 : 0)
      })
    }

    test('the list of domains returns and counts only the caller’s own', async () => {
      const { body } = expectStatus(await stranger.get('/domains'), 200)
      assert.deepEqual([body.data, body.meta.total], [[], 0])
    })

    test('a taken key on the shared host reveals only that it is taken', async () => {
      const link = { domain: 'localhost', key: 'needle-key', url: 'https://example.com/' }
      const answer = await stranger.post('/links', link)
      expectProblem(answer, 'validation_failed', ['key'])
      assert.doesNotMatch(
        JSON.stringify(answer.body),
        new RegExp(`${owned.links}|needle-url|owner`),
      )
    })

    test('a link cannot be created on, or moved to, another workspace’s active host', async () => {
      const link = { domain: 'owned.localhost', url: 'https://example.com/' }
      expectProblem(await stranger.post('/links', link), 'validation_failed', ['domain'])
      const own = (await stranger.get('/links')).body.data[0]
      const moved = { domain: 'owned.localhost' }
      const answer = await stranger.patch(`/links/${own.id}`, moved)
      expectProblem(answer, 'validation_failed', ['domain'])
      assert.equal((await stranger.get('/domains')).body.meta.total, 0, 'nothing was claimed')
    })

    test('the sealed password of another workspace’s link is refused', async () => {
      const { password } = (await owner.get(`/links/${owned.links}`)).body
      const link = { domain: 'localhost', url: 'https://example.com/', password }
      expectProblem(await stranger.post('/links', link), 'validation_failed', ['password'])
    })
  })
}
