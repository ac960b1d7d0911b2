import assert from 'node:assert/strict'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/app/config/config.ts'
import { backupMetrics } from '../../src/app/metrics/metric-sources.ts'
import { runTask } from '../../src/app/workers/run-task.ts'
import { startBackups } from '../../src/backup/backup-job.ts'
import {
  newestPlace,
  readBackupRecords,
  recordsOfPlace,
  withPlace,
  writeBackupRecords,
} from '../../src/backup/records.ts'
import { createFolder, type Place, SQLITE } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { makeInstance } from '../support/make-instance.ts'

const HOUR_MS = 3_600_000
/** A backup runs in a process of the lowest priority. */
const BACKUP_MS_MAX = 100_000

const runBackup: Parameters<typeof startBackups>[0]['runBackup'] = (request, stop) =>
  runTask('backup', request, { stop })

describe('the backups of a service', () => {
  let place: Place
  let folder: string
  let lines: { msg: string; [name: string]: unknown }[]
  before(async () => {
    place = await SQLITE.createMigratedPlace()
    await makeInstance(place.env)
  })
  beforeEach(() => {
    folder = createFolder()
    lines = []
  })
  after(() => place.remove())
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const configFor = (target: string) =>
    readConfig({ ...place.env, TERSE_BACKUP_TO: target, TERSE_BACKUP_KEEP: '1d' })

  async function runUntil(target: string, message: string) {
    const job = startBackups({ runBackup, config: configFor(target), log, firstDelayMs: 0 })
    try {
      return await eventually(async () => {
        const line = lines.find(({ msg }) => msg === message)
        assert.ok(line, JSON.stringify(lines))
        return line
      }, BACKUP_MS_MAX)
    } finally {
      await job.stop()
    }
  }

  async function metricsOf(target: string): Promise<(number | undefined)[]> {
    const metrics = await backupMetrics(configFor(target))()
    return metrics.map((metric) => ('samples' in metric ? metric.samples[0]?.value : undefined))
  }

  test('are verified, thinned out, logged and measured', async () => {
    const target = path.join(folder, 'target')
    assert.deepEqual(await metricsOf(target), [0, 0])
    const { verified, removed } = await runUntil(target, 'backup made')
    assert.deepEqual({ verified, removed }, { verified: true, removed: 0 })
    const records = readBackupRecords(place.dataDir)
    const made = recordsOfPlace(records, target)
    assert.ok(made)
    const madeAt = made.last.consistentAtMs / 1_000
    assert.deepEqual(await metricsOf(target), [madeAt, madeAt])
    assert.deepEqual(await metricsOf(path.join(folder, 'other')), [0, 0], 'of this place alone')
    // The one before is removed, although it was verified: the new one is too.
    const consistentAtMs = made.last.consistentAtMs - 6 * HOUR_MS
    const last = { ...made.last, consistentAtMs }
    writeBackupRecords(place.dataDir, withPlace(records, target, { ...made, last }))
    lines = []
    assert.equal((await runUntil(target, 'backup made')).removed, 1)
  })

  test('are not made while the last one is recent', async () => {
    const target = newestPlace(readBackupRecords(place.dataDir)) ?? ''
    const job = startBackups({ runBackup, config: configFor(target), log, firstDelayMs: 0 })
    // After the timer of the first look.
    await new Promise((resolve) => setTimeout(resolve, 20))
    await job.stop()
    assert.deepEqual(lines, [])
  })

  test('are missed at once when their place cannot be used, although none is due', async () => {
    const target = newestPlace(readBackupRecords(place.dataDir)) ?? ''
    const aside = `${target}-unmounted`
    renameSync(target, aside)
    const { reason, advice } = await runUntil(target, 'backup place cannot be used')
    renameSync(aside, target)
    assert.equal(reason, `the backups in ${target} are gone`)
    assert.match(String(advice), /Check that its disk is mounted/)
  })

  test('that fail are logged with the reason', async () => {
    const records = readBackupRecords(place.dataDir)
    writeBackupRecords(place.dataDir, { dataFolder: records.dataFolder })
    const target = path.join(folder, 'file')
    writeFileSync(target, '')
    const { err } = await runUntil(target, 'backup failed')
    assert.match(JSON.stringify(err), /EEXIST|ENOTDIR/)
    rmSync(folder, { recursive: true })
  })
})
