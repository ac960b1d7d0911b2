import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, expectStatus } from '../support/api.ts'
import { closeDatabase, dropConnections, reopenDatabase } from '../support/database-access.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { readOperations, UNKNOWN_ID, validRequest } from '../support/operations.ts'
import { expectProblem } from '../support/problems.ts'
import { type Service, startService } from '../support/service.ts'
import { visit } from '../support/visit.ts'

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('while PostgreSQL is away', () => {
    let service: Service
    let api: Api
    before(async () => {
      service = await startService(engine)
      api = await service.api()
      const warm = { domain: 'localhost', key: 'warm', url: 'https://example.com/warm' }
      expectStatus(await api.post('/links', warm), 201)
      expectStatus(await api.post('/links', { ...warm, key: 'cold' }), 201)
      assert.equal((await visit(service.port, '/warm')).status, 302)
      await closeDatabase(service.place)
    })
    after(async () => {
      await reopenDatabase(service.place)
      await service.stop()
    })

    test('every operation is 503 with Retry-After, and tells nothing of the database', async () => {
      for (const operation of await readOperations(service.baseUrl)) {
        const path = operation.pathFor(UNKNOWN_ID)
        const answer = await api.send(operation.method, path, validRequest(operation))
        assert.equal(answer.status, 503, `${operation.name}: ${JSON.stringify(answer.body)}`)
        expectProblem(answer, 'unavailable')
        assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
        assert.doesNotMatch(JSON.stringify(answer.body), /test_|postgres|SQL|connection/i)
      }
    })

    test('the process lives, and says that it is not ready', async () => {
      assert.equal((await visit(service.port, '/livez')).status, 200)
      const ready = await visit(service.port, '/readyz')
      assert.equal(ready.status, 503, ready.body)
      assert.match(ready.headers['retry-after'] ?? '', /^[1-9]\d*$/)
      assert.equal(JSON.parse(ready.body).code, 'unavailable')
    })

    test('a link at hand still redirects, any other asks for patience', async () => {
      const warm = await visit(service.port, '/warm')
      assert.equal(warm.headers.location, 'https://example.com/warm')
      const cold = await visit(service.port, '/cold')
      assert.equal(cold.status, 503)
      assert.match(cold.headers['retry-after'] ?? '', /^[1-9]\d*$/)
      assert.match(cold.headers['content-type'] ?? '', /^text\/html/)
    })

    test('what needs no database is answered as ever', async () => {
      expectStatus(await api.get('/openapi.json'), 200)
      expectProblem(await api.get('/nothing'), 'not_found')
      expectProblem(await api.send('DELETE', '/links'), 'method_not_allowed')
    })

    test('everything works again when it is back, and the clicks are counted', async () => {
      await reopenDatabase(service.place)
      const cold = await eventually(async () => {
        const answer = await visit(service.port, '/cold')
        assert.equal(answer.status, 302)
        return answer
      })
      assert.equal(cold.headers.location, 'https://example.com/warm')
      expectStatus(await api.post('/links', { domain: 'localhost', url: 'https://example.com/' }), 201)
      assert.equal((await visit(service.port, '/readyz')).status, 200)
      await eventually(async () => {
        const links = (await api.get('/links?search=warm')).body.data
        const clicks = links.map(({ key, clicks }: Record<string, unknown>) => [key, clicks])
        assert.deepEqual(Object.fromEntries(clicks), { warm: 2, cold: 1 })
      }, 10_000)
    })

    test('a restart of the server costs a retry at most', async () => {
      await dropConnections(service.place)
      await eventually(async () => {
        const answer = await api.get('/links')
        if (answer.status !== 200) expectProblem(answer, 'unavailable')
        assert.equal(answer.status, 200)
      })
    })
  })
}
