import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

const RIVALS = 6

for (const engine of ENGINES) {
  describe(`claims of several workspaces on one host, on ${engine.title}`, () => {
    let service: Service
    let acme: Api
    let globex: Api
    before(async () => {
      service = await startService(engine)
      acme = await service.api('acme')
      globex = await service.api('globex')
    })
    after(() => service.stop())

    const create = async (api: Api, domain: string): Promise<string> =>
      expectStatus(await api.post('/domains', { domain }), 201).body.id
    const statusOf = async (api: Api, id: string): Promise<string> =>
      expectStatus(await api.get(`/domains/${id}`), 200).body.status
    const locationOn = async (host: string) =>
      (await visit(service.port, '/k', { host })).headers.location

    test('any number of workspaces may claim a host that is not proved', async () => {
      const first = await create(acme, 'open.acme.test')
      const second = await create(globex, 'open.acme.test')
      assert.notEqual(first, second)
      for (const api of [acme, globex]) {
        const link = { domain: 'open.acme.test', key: 'k', url: 'https://example.com/' }
        expectStatus(await api.post('/links', link), 201)
      }
      assert.equal(await statusOf(acme, first), 'pending')
      assert.equal(await statusOf(globex, second), 'pending')
    })

    test('a second claim stays pending while the first is active, and its settings have no effect', async () => {
      const first = await create(acme, 'one.localhost')
      const link = { domain: 'one.localhost', key: 'k', url: 'https://example.com/acme' }
      expectStatus(await acme.post('/links', link), 201)
      const second = await create(globex, 'one.localhost')
      assert.equal(await statusOf(acme, first), 'active')
      assert.equal(await statusOf(globex, second), 'pending')

      const rival = { ...link, url: 'https://example.com/globex' }
      expectProblem(await globex.post('/links', rival), 'validation_failed', ['domain'])
      const fallback = { not_found_url: 'https://example.com/globex' }
      expectStatus(await globex.patch(`/domains/${second}`, fallback), 200)
      assert.equal(await statusOf(globex, second), 'pending')
      assert.equal(await locationOn('one.localhost'), 'https://example.com/acme')
      assert.equal((await visit(service.port, '/', { host: 'one.localhost' })).status, 404)
    })

    test('exactly one of several simultaneous claims becomes active', async () => {
      const rivals = await Promise.all(
        Array.from({ length: RIVALS }, (_, index) => service.api(`rival-${index}`)),
      )
      const ids = await Promise.all(rivals.map((api) => create(api, 'race.localhost')))
      const statuses = await Promise.all(
        rivals.map((api, index) => statusOf(api, ids[index] ?? '')),
      )
      assert.deepEqual(statuses.toSorted(), ['active', ...Array(RIVALS - 1).fill('pending')])
    })

    test('deleting the active claim stops its links, and the next claim is proved', async () => {
      const host = 'heir.localhost'
      const first = await create(acme, host)
      await acme.post('/links', { domain: host, key: 'k', url: 'https://example.com/acme' })
      const second = await create(globex, host)
      expectStatus(await acme.delete(`/domains/${first}`), 200)
      assert.equal(await locationOn(host), undefined)
      await eventually(async () => assert.equal(await statusOf(globex, second), 'active'))
      await globex.post('/links', { domain: host, key: 'k', url: 'https://example.com/globex' })
      assert.equal(await locationOn(host), 'https://example.com/globex')
    })

    test('a claim made again after its deletion waits behind the newer one', async () => {
      const host = 'late.localhost'
      const first = await create(acme, host)
      await acme.post('/links', { domain: host, key: 'k', url: 'https://example.com/acme' })
      await acme.delete(`/domains/${first}`)
      const second = await create(globex, host)
      assert.equal(await statusOf(globex, second), 'active')
      assert.equal(await statusOf(acme, await create(acme, host)), 'pending')
      assert.equal(await locationOn(host), undefined)
      expectStatus(await globex.delete(`/domains/${second}`), 200)
      const link = { domain: host, key: 'k2', url: 'https://example.com/acme' }
      expectStatus(await acme.post('/links', link), 201)
    })

    test('a proof is bound to its host, so a renamed claim becomes pending', async () => {
      const create = () =>
        acme.post('/domains', { domain: 'mine.localhost' }, { 'idempotency-key': 'proof' })
      const { id } = expectStatus(await create(), 201).body
      expectStatus(await acme.patch(`/domains/${id}`, { domain: 'bank.acme.test' }), 200)
      assert.equal(await statusOf(acme, id), 'pending')
      expectStatus(await create(), 201)
      assert.equal(await statusOf(acme, id), 'pending')
    })
  })
}
