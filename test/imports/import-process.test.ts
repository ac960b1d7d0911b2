import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { type Instance, openInstance } from '../../src/app/composition/instance.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { openNodeImports } from '../../src/app/node/import-job.ts'
import { commandLine } from '../../src/identity/actor.ts'
import { type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'

/** More than a process writes before the test sees that it began. */
const ROWS = 50_000
/** The time in which a busy machine starts a process. */
const STARTED_WITHIN_MS = 60_000

describe('the process of an import', () => {
  let place: Place
  let instance: Instance
  const log = pino({ level: 'silent' })

  before(async () => {
    place = await SQLITE.createMigratedPlace()
    instance = await openInstance(readConfig(place.env), log)
  })
  after(async () => {
    await instance.close()
    await place.remove()
  })

  test('stops with its node, which is not counted as a crash', async () => {
    const { id: workspaceId } = await instance.workspaces.ensure(commandLine, 'acme')
    const actor = commandLine(workspaceId)
    const { imports, startRunning } = openNodeImports(readConfig(place.env), instance, log)
    const { id } = await imports.create(actor, { source: 'csv', domains: { '': 'localhost' } })
    const lines = Array.from({ length: ROWS }, (_, row) => `k${row},https://example.com/${row}`)
    await imports.receive(actor, id, 0, Buffer.from(['key,url', ...lines].join('\n')))
    await imports.start(actor, id, {})
    const running = startRunning()
    await eventually(async () => {
      const { rows_done, attempts } = await imports.get(actor, id)
      assert.ok(rows_done > 0)
      assert.equal(attempts, 1)
    }, STARTED_WITHIN_MS)
    await running.stop()
    const { status, attempts, lease_until, next_at, rows_done } = await imports.get(actor, id)
    assert.ok(rows_done < ROWS)
    assert.deepEqual([status, attempts, lease_until], ['reading', 0, null])
    assert.ok(next_at !== null && next_at <= instance.clock.nowMicros(), 'it goes on at once')
  })
})
