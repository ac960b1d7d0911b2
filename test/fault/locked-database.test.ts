import assert from 'node:assert/strict'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { apiClient, expectStatus } from '../support/api.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { formSetting, isLongForm } from '../support/long-form.ts'
import { makeToken } from '../support/make-instance.ts'
import { type ServiceProcess, startProcess } from '../support/service-process.ts'
import { sendVisitors } from './visitors.ts'

/** Longer than a drainer waits in one attempt; with fewer concurrent visits than the long form. */
const LOCK_SECONDS = formSetting('LOCK_SECONDS')
const PAUSE_MS_MAX = isLongForm ? 0 : 20

/** Locks the counters against writing; on SQLite the links as well. */
async function lock(place: Place): Promise<() => Promise<void>> {
  if (place.databaseUrl === undefined) {
    const files = ['clicks.db', 'terse.db'].map(
      (name) => new DatabaseSync(path.join(place.dataDir, name), { timeout: 5_000 }),
    )
    for (const file of files) file.exec('begin exclusive')
    return async () => {
      for (const file of files) file.close()
    }
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  await client.query('begin')
  await client.query('lock table journal_positions in exclusive mode')
  return () => client.end()
}

describe(`a database locked for ${LOCK_SECONDS} s`, { concurrency: true }, () => {
  for (const engine of ENGINES) {
    describe(`on ${engine.title}`, () => {
      let place: Place
      let service: ServiceProcess
      before(async () => {
        place = await engine.createMigratedPlace()
      })
      after(async () => {
        await service?.kill()
        await place.remove()
      })

      test('answers every visitor, and counts every click once it is unlocked', async () => {
        const token = await makeToken(place.env)
        service = await startProcess(place)
        const api = apiClient(`http://127.0.0.1:${service.port}`, token)
        const link = { domain: 'localhost', key: 'locked', url: 'https://example.com/' }
        const { id } = expectStatus(await api.post('/links', link), 201).body
        const clicksOf = async () => expectStatus(await api.get(`/links/${id}`), 200).body.clicks
        const visitors = sendVisitors(service.port, '/locked', { pauseMsMax: PAUSE_MS_MAX })
        await eventually(async () => assert.ok((await clicksOf()) > 0))

        const unlock = await lock(place)
        const before = visitors.tally.answered
        const counted = await clicksOf()
        await sleep(LOCK_SECONDS * 1_000)
        assert.equal(await clicksOf(), counted)
        assert.ok(visitors.tally.answered > before + 100, 'visitors are redirected meanwhile')
        await unlock()
        await visitors.stop()
        const { answered, failed } = visitors.tally
        assert.equal(failed, 0)
        await eventually(async () => assert.equal(await clicksOf(), answered))
        assert.equal(await service.stop(), 0)
      })
    })
  }
})
