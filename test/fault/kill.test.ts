import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { type Api, apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { SEED } from '../support/random.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { sendVisitors } from './visitors.ts'

/** Number of kills, divided among the engines. */
const ROUNDS = formSetting('KILL_ROUNDS') / ENGINES.length
const EDIT_PAUSE_MS = 30
/** The latest moment of a kill: a little after the drainer's first run. */
const KILL_AFTER_MS_MAX = 250
/** Between two kills some visits are within the cap and some beyond. */
const CAP = 3
const SETTINGS = { TERSE_CLICK_CAP_PER_MINUTE: String(CAP) }

describe('a service that is killed under load', { concurrency: true }, () => {
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
        if (service.child.exitCode === null && service.child.signalCode === null) {
          await service.kill()
        }
        await place.remove()
      })

      const api = (): Api => apiClient(`http://127.0.0.1:${service.port}`, token)

      async function createLink(key: string): Promise<string> {
        const body = { domain: 'localhost', key, url: 'https://example.com/' }
        return expectStatus(await api().post('/links', body), 201).body.id
      }

      /**
       * Changes links beside the clicks: the database files have independent states when they are
       * killed.
       */
      async function editUntilKilled(editor: Api, id: string): Promise<void> {
        const url = 'https://example.com/'
        try {
          for (;;) {
            await editor.post('/links', { domain: 'localhost', url })
            await editor.patch(`/links/${id}`, { url })
            await sleep(EDIT_PAUSE_MS)
          }
        } catch {
          // The service does not answer any more.
        }
      }

      async function countVisits(id: string): Promise<{ clicks: number; bots: number }> {
        return expectStatus(await api().get(`/links/${id}/clicks?bots=include`), 200).body.total
      }

      /** The number of visits that the rows of the link's export stand for. */
      async function exportVisits(id: string): Promise<number> {
        const path = `/links/${id}/clicks/export?format=ndjson&bots=include`
        const { body } = expectStatus(await api().get(path), 200)
        const lines = String(body).split('\n').slice(0, -1)
        return lines.reduce((sum, line) => sum + JSON.parse(line).count, 0)
      }

      test(`has counted each answered visit once after ${ROUNDS} kills`, async (t) => {
        const moments = fc.sample(fc.noBias(fc.nat({ max: KILL_AFTER_MS_MAX })), {
          numRuns: ROUNDS,
          seed: SEED,
        })
        service = await startProcess(place, SETTINGS)
        const id = await createLink('killed')
        let answered = 0
        let cutOff = 0
        for (const [round, moment] of moments.entries()) {
          const visitors = sendVisitors(service.port, '/killed')
          const editing = editUntilKilled(api(), id)
          await sleep(moment)
          // A busy machine may answer nothing before the others.
          if (round === 0) {
            await eventually(async () => assert.ok(visitors.tally.answered > ROUNDS + CAP))
          }
          await service.kill()
          await Promise.all([visitors.ended, editing])
          const { tally } = visitors
          assert.equal(tally.failed, tally.started - tally.answered)
          answered += tally.answered
          cutOff += tally.failed

          service = await startProcess(place, SETTINGS)
          await eventually(async () => {
            const { clicks, bots } = await countVisits(id)
            assert.ok(clicks + bots >= answered)
          })
        }
        // Nothing is left to ingest, so a click that was counted twice would be visible by now.
        assert.equal(await service.stop(), 0)
        service = await startProcess(place, SETTINGS)
        const { clicks, bots } = await countVisits(id)
        const counted = clicks + bots
        t.diagnostic(`${answered} answered, ${cutOff} cut off, ${clicks} clicks, ${bots} bots`)
        assert.ok(counted >= answered, `${counted} counted of ${answered} answered visits`)
        assert.ok(counted <= answered + cutOff, `${counted} counted, ${cutOff} cut off`)
        assert.equal(expectStatus(await api().get(`/links/${id}`), 200).body.clicks, clicks)
        assert.equal(await exportVisits(id), counted)
        assert.ok(bots > 0, 'some visits were beyond the cap')
        assert.ok(answered > ROUNDS, 'there was load')
        await service.stop()
      })
    })
  }
})
