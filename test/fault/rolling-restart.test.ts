import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting, isLongForm } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { startProcess } from '../support/service-process.ts'
import { assertAlive, startedWorkers, workerPids } from '../support/worker-pids.ts'
import { sendVisitors } from './visitors.ts'

/**
 * Number of restarts, divided among the engines, with fewer concurrent visits in the short form.
 */
const RESTARTS = formSetting('RESTARTS') / ENGINES.length
const PAUSE_MS_MAX = isLongForm ? 5 : 40
const PROCESSES = 2
const RESTART_DEADLINE_MS = 90_000
const TIMEOUT_MS = 60_000 + RESTARTS * 60_000
/**
 * Visits one after the other, with pauses long enough for new processes to start, and with pauses
 * in which connections are idle, but shorter than a stopping process keeps them open.
 */
const HABITS = [
  { keepAlive: true, pauseMsMax: PAUSE_MS_MAX },
  { keepAlive: true, pauseMsMax: 200 },
  { keepAlive: false, pauseMsMax: 4 * PAUSE_MS_MAX },
] as const

describe(`${PROCESSES} processes that are replaced under load`, { concurrency: true }, () => {
  for (const engine of ENGINES) {
    test(`fail no request and lose no click in ${RESTARTS} restarts, on ${engine.title}`, {
      timeout: TIMEOUT_MS,
    }, async (t) => {
      const place = await engine.createMigratedPlace()
      const token = await makeToken(place.env)
      let service = await startProcess(place, { TERSE_PROCESSES: String(PROCESSES) })
      t.after(async () => {
        await service.stop()
        await place.remove()
      })
      const api = () => apiClient(`http://127.0.0.1:${service.port}`, token)
      const link = { domain: 'localhost', key: 'rolled', url: 'https://example.com/' }
      const { id } = expectStatus(await api().post('/links', link), 201).body
      const crowds = HABITS.map((habits) => sendVisitors(service.port, '/rolled', habits))
      // Their visits would keep the process of a failed test from ending.
      t.after(() => Promise.all(crowds.map((crowd) => crowd.stop())))

      for (let round = 1; round <= RESTARTS; round += 1) {
        const before = workerPids(service)
        const started = startedWorkers(service).length
        service.child.kill('SIGHUP')
        await eventually(async () => {
          const done = service.output().stderr.match(/"restarted"/g) ?? []
          assert.equal(done.length, round)
        }, RESTART_DEADLINE_MS)
        assert.equal(startedWorkers(service).length, started + PROCESSES)
        assertAlive(before, false)
        assertAlive(workerPids(service), true)
        assert.deepEqual(
          crowds.map(({ tally }) => tally.failed),
          [0, 0, 0],
          `in restart ${round}`,
        )
      }
      for (const crowd of crowds) await crowd.stop()

      const answered = crowds.reduce((sum, { tally }) => sum + tally.answered, 0)
      const longest = Math.round(Math.max(...crowds.map(({ tally }) => tally.longestMs)))
      assert.equal(await service.stop(), 0)
      service = await startProcess(place)
      const { body } = expectStatus(await api().get(`/links/${id}`), 200)
      t.diagnostic(`${answered} answered, ${body.clicks} counted, longest ${longest} ms`)
      assert.equal(body.clicks, answered)
      assert.ok(answered > RESTARTS * 100, 'there was load')
    })
  }
})
