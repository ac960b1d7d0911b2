import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { isLongForm } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { RawConnection } from '../support/raw-http.ts'
import { startProcess } from '../support/service-process.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { visit } from '../support/visit.ts'
import { startedWorkers } from '../support/worker-pids.ts'
import { sendVisitors } from './visitors.ts'

/** On a busy machine, much of it passes until the balancer and the visitors have seen that it stops. */
const DELAY_MS = 4_000
/** The time to become not ready that a service guarantees with the default delay of 5 s. */
const EXIT_MS_MAX = 25_000

describe('a service behind a balancer that receives SIGTERM', () => {
  for (const processes of ['1', '2']) {
    test(`becomes not ready first and keeps serving, so that no visitor fails (processes: ${processes})`, async (t) => {
      const place = await SQLITE.createMigratedPlace()
      const token = await makeToken(place.env)
      const settings = { TERSE_STOP_DELAY_SECONDS: String(DELAY_MS / 1_000) }
      const service = await startProcess(place, { ...settings, TERSE_PROCESSES: processes })
      t.after(async () => {
        if (service.child.exitCode === null) await service.kill()
        await place.remove()
      })
      const { port } = service
      if (processes !== '1') {
        await eventually(async () => assert.equal(startedWorkers(service).length, 2))
      }
      const api = apiClient(`http://127.0.0.1:${port}`, token)
      const link = { domain: 'localhost', key: 'stopped', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)

      const isReady = async () => (await visit(port, '/readyz')).status === 200
      assert.ok(await isReady())
      // One visitor keeps its connections, the other opens a new one each time.
      const visitors = [true, false].map((keepAlive) =>
        sendVisitors(port, '/stopped', { keepAlive, persistent: true, pauseMsMax: 20 }),
      )
      const sent = () => visitors.map(({ tally }) => tally.answered)
      await eventually(async () => assert.ok(sent().every((count) => count > 20)))
      const askedAt = performance.now()
      const exited = service.stop()
      await eventually(async () => assert.equal(await isReady(), false))
      const before = sent()
      await eventually(async () => {
        for (const [index, count] of sent().entries()) assert.ok(count > (before[index] ?? 0) + 10)
      })
      await Promise.all(visitors.map((each) => each.stop()))
      assert.equal(await exited, 0)
      const tookMs = performance.now() - askedAt
      assert.deepEqual(
        visitors.map(({ tally }) => tally.failed),
        [0, 0],
      )
      assert.ok(tookMs >= DELAY_MS, `stopped after ${Math.round(tookMs)} ms`)
    })
  }

  for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
    test('ends within 25 s, whatever it waits for', { skip: !isLongForm }, async (t) => {
      const place = await engine.createMigratedPlace()
      const token = await makeToken(place.env)
      const database = new URL(String(place.databaseUrl))
      const proxy = await startTcpProxy({ host: database.hostname, port: Number(database.port) })
      database.port = String(proxy.port)
      const service = await startProcess(place, { TERSE_DATABASE_URL: database.href })
      t.after(async () => {
        if (service.child.exitCode === null) await service.kill()
        await proxy.close()
        await place.remove()
      })
      const { port } = service
      const api = apiClient(`http://127.0.0.1:${port}`, token)
      const link = { domain: 'localhost', key: 'stopped', url: 'https://example.com/' }
      expectStatus(await api.post('/links', link), 201)
      assert.equal((await visit(port, '/stopped')).status, 302)
      assert.equal((await visit(port, '/readyz')).status, 200)
      // The database does not answer any more, and a client never sends the rest of its request.
      proxy.freezeOpen()
      assert.equal((await visit(port, '/stopped')).status, 302)
      const hanging = await RawConnection.open(port)
      hanging.write('POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n')
      const askedAt = performance.now()
      await service.stop()
      const tookMs = performance.now() - askedAt
      hanging.destroy()
      assert.ok(tookMs < EXIT_MS_MAX, `ended after ${Math.round(tookMs)} ms`)
      t.diagnostic(`ended after ${Math.round(tookMs)} ms`)
    })
  }
})
