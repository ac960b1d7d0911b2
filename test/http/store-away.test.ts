import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { closeDatabase, dropConnections, reopenDatabase } from '../support/database-access.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { readOperations, UNKNOWN_ID, validRequest } from '../support/operations.ts'
import { personClient } from '../support/person-client.ts'
import { expectProblem } from '../support/problems.ts'
import { numberOf } from '../support/prometheus.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { visit } from '../support/visit.ts'

const RETRY_AFTER = /^[1-9]\d*$/
const WRITERS = 20
const CUTS = 5
/** Within 3 s on a quiet machine, and in any case before a query times out. */
const SOON_MS = 10_000

/** Starts a process for a place, with a token of the workspace `acme`. */
async function startOver(place: Place): Promise<{ service: ServiceProcess; api: Api }> {
  const token = await makeToken(place.env)
  const service = await startProcess(place, { TERSE_LOG_LEVEL: 'silent' })
  return { service, api: apiClient(`http://127.0.0.1:${service.port}`, token) }
}

// SQLite is in-process and cannot become unavailable.
for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('while PostgreSQL is down', () => {
    let place: Place
    let service: ServiceProcess
    let api: Api
    before(async () => {
      place = await engine.createPlace()
      const first = await startOver(place)
      const warm = { domain: 'localhost', key: 'warm', url: 'https://example.com/warm' }
      expectStatus(await first.api.post('/links', warm), 201)
      expectStatus(await first.api.post('/links', { ...warm, key: 'cold' }), 201)
      const edited = (await first.api.post('/links', { ...warm, key: 'edited' })).body
      // The next process has no change left to read, so its cache stays as the visits below leave it.
      await first.service.stop()
      const second = await startOver(place)
      service = second.service
      api = second.api
      assert.equal((await visit(service.port, '/warm')).status, 302)
      expectStatus(await api.get('/links'), 200)
      assert.equal((await visit(service.port, '/edited')).status, 302)
      const change = { url: 'https://example.com/changed' }
      expectStatus(await api.patch(`/links/${edited.id}`, change), 200)
      const changedMs = performance.now()
      await eventually(async () => {
        // Once it has also read the change from the log, it loads the link again.
        const { body } = await visit(service.port, '/metrics')
        const lagMs = (numberOf(body, 'terse_change_log_lag_seconds') ?? 0) * 1_000
        assert.ok(lagMs < performance.now() - changedMs)
        assert.equal(numberOf(body, 'terse_cache_entries', { cache: 'links' }), 2)
      })
      await closeDatabase(place)
    })
    after(async () => {
      await reopenDatabase(place)
      await service.stop()
      await place.remove()
    })

    test('every operation returns 503 with Retry-After, and reveals nothing about the database', async () => {
      for (const operation of await readOperations(`http://127.0.0.1:${service.port}`)) {
        const path = operation.pathFor(UNKNOWN_ID)
        const answer = await api.send(operation.method, path, validRequest(operation))
        assert.equal(answer.status, 503, `${operation.name}: ${JSON.stringify(answer.body)}`)
        expectProblem(answer, 'unavailable')
        assert.match(answer.headers.get('retry-after') ?? '', RETRY_AFTER)
        assert.doesNotMatch(JSON.stringify(answer.body), /test_|postgres|SQL|connection/i)
      }
    })

    test('the process stays live, ready for cached redirects and not ready for the API', async () => {
      assert.equal((await visit(service.port, '/livez')).status, 200)
      const ready = await visit(service.port, '/readyz')
      assert.equal(ready.status, 200, ready.body)
      const roles = { redirect: 'ok', api: 'unavailable', jobs: 'unavailable' }
      assert.deepEqual(JSON.parse(ready.body).roles, roles)
      assert.equal((await visit(service.port, '/readyz?role=redirect')).status, 200)
      for (const role of ['api', 'none']) {
        const refused = await visit(service.port, `/readyz?role=${role}`)
        assert.equal(refused.status, 503, refused.body)
        assert.match(refused.headers['retry-after'] ?? '', RETRY_AFTER)
        assert.equal(JSON.parse(refused.body).code, 'unavailable')
        assert.deepEqual(JSON.parse(refused.body).roles, roles)
      }
    })

    test('the metrics stay readable, and report it', async () => {
      const { status, body } = await visit(service.port, '/metrics')
      assert.equal(status, 200)
      assert.equal(numberOf(body, 'terse_database_up'), 0)
      assert.equal(numberOf(body, 'terse_ready', { role: 'redirect' }), 1)
      assert.equal(numberOf(body, 'terse_ready', { role: 'api' }), 0)
    })

    test('sign-in returns 503 soon, whether or not the person exists', async () => {
      for (const email of ['ada@example.com', 'nobody@example.com']) {
        const startedMs = performance.now()
        const answer = await personClient({ baseUrl: `http://127.0.0.1:${service.port}` }).post(
          '/session',
          { email, password: 'correct horse battery staple' },
        )
        expectProblem(answer, 'unavailable')
        assert.ok(performance.now() - startedMs < SOON_MS)
      }
    })

    test('a cached link still redirects', async () => {
      const { headers } = await visit(service.port, '/warm')
      assert.equal(headers.location, 'https://example.com/warm')
    })

    test('a link that was changed just before redirects to its new destination', async () => {
      const { headers } = await visit(service.port, '/edited')
      assert.equal(headers.location, 'https://example.com/changed')
    })

    test('any other link returns a 503 page with Retry-After', async () => {
      const cold = await visit(service.port, '/cold')
      assert.equal(cold.status, 503)
      assert.match(cold.headers['retry-after'] ?? '', RETRY_AFTER)
      assert.match(cold.headers['content-type'] ?? '', /^text\/html/)
    })

    test('requests that need no database are answered as usual', async () => {
      expectStatus(await api.get('/openapi.json'), 200)
      const wrongChecksum = `terse_${'0'.repeat(36)}`
      const stranger = apiClient(`http://127.0.0.1:${service.port}`, wrongChecksum)
      expectProblem(await stranger.get('/links'), 'unauthorized')
      expectProblem(await api.get('/nothing'), 'not_found')
      expectProblem(await api.send('DELETE', '/links'), 'method_not_allowed')
    })

    test('everything works again when PostgreSQL is back, and every click is counted', async () => {
      await reopenDatabase(place)
      await eventually(async () => {
        assert.equal((await visit(service.port, '/cold')).status, 302)
      })
      const link = { domain: 'localhost', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
      await eventually(async () => {
        assert.equal((await visit(service.port, '/readyz')).status, 200)
      })
      await eventually(async () => {
        const links: Record<string, unknown>[] = (await api.get('/links?search=warm')).body.data
        const clicks = Object.fromEntries(links.map((item) => [item.key, item.clicks]))
        assert.deepEqual(clicks, { warm: 2, cold: 1 })
      })
    })
  })

  describe('while PostgreSQL closes connections', () => {
    test('requests succeed or return 503, and the process stays alive', async () => {
      const place = await engine.createPlace()
      const { service, api } = await startOver(place)
      try {
        let cutting = true
        const statuses = new Map<number, number>()
        const write = async () => {
          while (cutting) {
            const link = { domain: 'localhost', url: 'https://example.com/' }
            const answer = await api.post('/links', link)
            if (answer.status !== 201) expectProblem(answer, 'unavailable')
            statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
          }
        }
        const writers = Promise.all(Array.from({ length: WRITERS }, write))
        for (let cut = 0; cut < CUTS; cut += 1) {
          const written = statuses.get(201) ?? 0
          await Promise.race([
            writers,
            eventually(async () => assert.ok((statuses.get(201) ?? 0) >= written + WRITERS)),
          ])
          await dropConnections(place)
        }
        cutting = false
        await writers
        const total = (await eventually(async () => expectStatus(await api.get('/links'), 200)))
          .body.meta.total
        assert.ok(total >= (statuses.get(201) ?? 0), 'every link answered with 201 exists')
        assert.equal(service.child.exitCode, null)
      } finally {
        await service.kill()
        await place.remove()
      }
    })
  })
}
