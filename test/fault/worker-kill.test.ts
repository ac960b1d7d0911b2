import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting, isLongForm } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { SEED } from '../support/random.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { startedWorkers, workerPids } from '../support/worker-pids.ts'
import { sendVisitors, VISITORS } from './visitors.ts'

/** Number of kills, divided among the engines, with fewer concurrent visits in the short form. */
const ROUNDS = formSetting('WORKER_KILL_ROUNDS') / ENGINES.length
const PAUSE_MS_MAX = isLongForm ? 0 : 20
const PROCESSES = 2
/** The killed process still listens for some milliseconds, so a visitor may lose its connection and then its next one. */
const FAILURES_OF_A_VISITOR_MAX = 2
const KILL_AFTER_MS_MAX = 250
/** Longer than the restart delay of a process that has failed repeatedly. */
const RESTART_DEADLINE_MS = 60_000
const TIMEOUT_MS = ROUNDS * RESTART_DEADLINE_MS

describe(`one of ${PROCESSES} processes killed under load`, { concurrency: true }, () => {
  for (const engine of ENGINES) {
    describe(`on ${engine.title}`, () => {
      let place: Place
      let token: string
      let service: ServiceProcess
      before(async () => {
        place = await engine.createMigratedPlace()
        token = await makeToken(place.env)
      })
      after(async () => {
        await service.stop()
        await place.remove()
      })

      async function countClicks(id: string): Promise<number> {
        const api = apiClient(`http://127.0.0.1:${service.port}`, token)
        return expectStatus(await api.get(`/links/${id}`), 200).body.clicks
      }

      test(`fails only the visits on its connections, in ${ROUNDS} rounds, and loses no click`, {
        timeout: TIMEOUT_MS,
      }, async (t) => {
        const kills = fc.sample(
          fc.record({
            afterMs: fc.noBias(fc.nat({ max: KILL_AFTER_MS_MAX })),
            victim: fc.nat({ max: PROCESSES - 1 }),
          }),
          { numRuns: ROUNDS, seed: SEED },
        )
        service = await startProcess(place, { TERSE_PROCESSES: String(PROCESSES) })
        const api = apiClient(`http://127.0.0.1:${service.port}`, token)
        const link = { domain: 'localhost', key: 'killed', url: 'https://example.com/' }
        const { id } = expectStatus(await api.post('/links', link), 201).body
        const crowds = [true, false].map((keepAlive) =>
          sendVisitors(service.port, '/killed', {
            keepAlive,
            persistent: true,
            pauseMsMax: PAUSE_MS_MAX,
          }),
        )
        // The persistent connections would keep the process of a failed test from ending.
        t.after(() => Promise.all(crowds.map((crowd) => crowd.stop())))
        const answered = () => crowds.reduce((sum, { tally }) => sum + tally.answered, 0)
        const failed = () => crowds.reduce((sum, { tally }) => sum + tally.failed, 0)
        await eventually(async () => assert.ok(answered() > VISITORS))

        for (const { afterMs, victim } of kills) {
          await sleep(afterMs)
          const started = startedWorkers(service).length
          const failedBefore = failed()
          const answeredBefore = answered()
          process.kill(Number(workerPids(service)[victim]), 'SIGKILL')
          await eventually(async () => assert.ok(answered() > answeredBefore + VISITORS))
          await eventually(async () => {
            assert.equal(startedWorkers(service).length, started + 1)
          }, RESTART_DEADLINE_MS)
          const cutOff = failed() - failedBefore
          const cutOffMax = crowds.length * VISITORS * FAILURES_OF_A_VISITOR_MAX
          assert.ok(cutOff <= cutOffMax, `${cutOff} visits failed`)
        }
        for (const crowd of crowds) await crowd.stop()

        // A stop ingests all clicks, so one that was ingested twice would be visible after it.
        assert.equal(await service.stop(), 0)
        service = await startProcess(place)
        await eventually(async () => assert.ok((await countClicks(id)) >= answered()))
        const clicks = await countClicks(id)
        const longest = Math.round(Math.max(...crowds.map(({ tally }) => tally.longestMs)))
        t.diagnostic(
          `${answered()} answered, ${failed()} cut off, ${clicks} counted, longest ${longest} ms`,
        )
        assert.ok(clicks <= answered() + failed(), `${clicks} clicks`)
      })
    })
  }
})
