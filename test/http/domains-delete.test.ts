import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

for (const engine of ENGINES) {
  describe(`DELETE /api/v1/domains/{id} on ${engine.title}`, () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine)
      api = await service.api()
    })
    after(() => service.stop())

    const statusOn = async (host: string, path: string) =>
      (await visit(service.port, path, { host })).status

    test('returns 200 with its message once, then 404', async () => {
      const { id } = (await api.post('/domains', { domain: 'once.localhost' })).body
      const { body } = expectStatus(await api.delete(`/domains/${id}`), 200)
      assert.deepEqual(body, { message: 'Domain deleted' })
      expectProblem(await api.delete(`/domains/${id}`), 'not_found')
      expectProblem(await api.get(`/domains/${id}`), 'not_found')
      assert.equal((await api.get('/domains')).body.meta.total, 0)
    })

    test('keeps the links listed but not served, until the host is claimed and proved again', async () => {
      const host = 'back.localhost'
      const { id } = (await api.post('/domains', { domain: host })).body
      const sent = { domain: host, key: 'k', url: 'https://example.com/k', tags: ['kept'] }
      const link = expectStatus(await api.post('/links', sent), 201).body
      assert.equal(await statusOn(host, '/k'), 302)
      await eventually(async () => {
        assert.equal((await api.get(`/links/${link.id}`)).body.clicks, 1)
      })
      // Caches the host, so that the deletion has something to invalidate.
      assert.equal(await statusOn(host, '/none'), 404)
      expectStatus(await api.delete(`/domains/${id}`), 200)

      const listed = (await api.get(`/links?domain=${host}`)).body.data
      assert.equal(listed.length, 1)
      assert.equal(listed[0].link, `https://${host}/k`)
      assert.equal(listed[0].clicks, 1)
      assert.equal(await statusOn(host, '/k'), 404)
      assert.equal(await statusOn(host, '/'), 404)

      expectStatus(await api.post('/domains', { domain: host }), 201)
      assert.equal(await statusOn(host, '/k'), 302)
      await eventually(async () => {
        assert.equal((await api.get(`/links/${link.id}`)).body.clicks, 2)
      })
    })

    test('still lets the links be changed, moved and deleted', async () => {
      const host = 'silent.localhost'
      const { id } = (await api.post('/domains', { domain: host })).body
      const [kept, moved, gone] = await Promise.all(
        ['a', 'b', 'c'].map(async (key) => {
          const link = { domain: host, key, url: 'https://example.com/' }
          return expectStatus(await api.post('/links', link), 201).body
        }),
      )
      await api.delete(`/domains/${id}`)
      const changed = { domain: host, url: 'https://example.com/changed' }
      expectStatus(await api.put(`/links/${kept.id}`, changed), 200)
      const claims = (await api.get('/domains')).body.data
      assert.ok(claims.every((claim: { domain: string }) => claim.domain !== host))
      expectStatus(await api.patch(`/links/${moved.id}`, { domain: 'localhost' }), 200)
      assert.equal(await statusOn('localhost', '/b'), 302)
      expectStatus(await api.delete(`/links/${gone.id}`), 200)
      assert.equal((await api.get(`/links?domain=${host}`)).body.meta.total, 1)
    })

    test('a new link on the host claims it again, and the old links work again', async () => {
      const host = 'reclaimed.localhost'
      const { id } = (await api.post('/domains', { domain: host })).body
      await api.post('/links', { domain: host, key: 'old', url: 'https://example.com/old' })
      await api.delete(`/domains/${id}`)
      const link = { domain: host, key: 'new', url: 'https://example.com/new' }
      expectStatus(await api.post('/links', link), 201)
      assert.equal(await statusOn(host, '/old'), 302)
      assert.equal(await statusOn(host, '/new'), 302)
      const again = { domain: host, key: 'old', url: 'https://example.com/' }
      expectProblem(await api.post('/links', again), 'validation_failed', ['key'])
    })
  })
}
