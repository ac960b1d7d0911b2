import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { inspectDatabase } from '../../src/app/database/inspect.ts'
import { totalBacklogBytes } from '../../src/clicks/journal/journal-reader.ts'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { sendVisitors } from './visitors.ts'

/** Before unfinished requests are cut off, which is after 9 s. */
const STOP_MS_MAX = 8_900

for (const engine of ENGINES) {
  describe(`a service that receives SIGTERM, on ${engine.title}`, () => {
    let place: Place
    let token: string
    let service: ServiceProcess
    /** Keeps its connections open, as browsers and proxies do. */
    let agent: Agent
    before(async () => {
      agent = new Agent({ keepAlive: true })
      place = await engine.createMigratedPlace()
      token = await makeToken(place.env)
      service = await startProcess(place)
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      const link = { domain: 'localhost', key: 'stopped', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
    })
    after(async () => {
      agent.destroy()
      await place.remove()
    })

    /** A request whose head the service has received, and which waits for its body. */
    async function beginRequest(body: string) {
      const outgoing = request({
        host: '127.0.0.1',
        port: service.port,
        path: '/api/v1/links',
        method: 'POST',
        agent,
        headers: {
          host: 'localhost',
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          expect: '100-continue',
        },
      })
      outgoing.flushHeaders()
      await once(outgoing, 'continue')
      const status = once(outgoing, 'response').then(([response]) => {
        response.resume()
        return response.statusCode as number
      })
      return { status, finish: () => outgoing.end(body) }
    }

    test('answers accepted requests, counts all clicks, and exits with 0', async () => {
      const accepted = await Promise.all(
        ['a', 'b', 'c'].map((key) =>
          beginRequest(JSON.stringify({ domain: 'localhost', key, url: 'https://example.com/' })),
        ),
      )
      const visitors = sendVisitors(service.port, '/stopped')
      await eventually(async () => assert.ok(visitors.tally.answered > 200))

      const askedAt = performance.now()
      const exited = service.stop()
      await eventually(async () => assert.match(service.output().stderr, /"stopping"/))
      for (const { finish } of accepted) finish()
      assert.deepEqual(await Promise.all(accepted.map(({ status }) => status)), [201, 201, 201])
      assert.equal(await exited, 0)
      const tookMs = performance.now() - askedAt
      await visitors.ended
      assert.ok(tookMs < STOP_MS_MAX, `stopped after ${Math.round(tookMs)} ms`)

      const inspection = await inspectDatabase({
        databaseUrl: place.databaseUrl,
        dataDir: place.dataDir,
      })
      assert.equal(totalBacklogBytes(place.dataDir, inspection?.positions ?? new Map()), 0)
      assert.equal(inspection?.links, 4)

      service = await startProcess(place)
      const api = apiClient(`http://127.0.0.1:${service.port}`, token)
      const { body } = expectStatus(await api.get('/links?search=stopped'), 200)
      const { answered, failed } = visitors.tally
      assert.ok(body.data[0].clicks >= answered, `${body.data[0].clicks} of ${answered}`)
      assert.ok(body.data[0].clicks <= answered + failed)
      assert.equal(await service.stop(), 0)
    })

    test('answers accepted requests also after two signals, as from a terminal and npm', async () => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        service = await startProcess(place)
        const body = { domain: 'localhost', key: signal, url: 'https://example.com/' }
        const accepted = await beginRequest(JSON.stringify(body))
        const exited = once(service.child, 'exit')
        service.child.kill(signal)
        await eventually(async () => assert.match(service.output().stderr, /"stopping"/))
        service.child.kill(signal)
        accepted.finish()
        assert.equal(await accepted.status, 201)
        assert.deepEqual(await exited, [0, null], signal)
      }
    })

    test('exits with 0 without any connection', async () => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        service = await startProcess(place)
        const exited = once(service.child, 'close')
        service.child.kill(signal)
        assert.deepEqual(await exited, [0, null], signal)
        assert.doesNotMatch(service.output().stderr, /"level":(50|60)/)
      }
    })
  })
}
