import assert from 'node:assert/strict'
import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { pino } from 'pino'
import { openFileHealth, startFileChecks } from '../../src/app/node/file-checks.ts'
import { RefusedFiles, readLastCheck, writeLastCheck } from '../../src/storage/file-fault.ts'
import { copyFolder, serveFolder } from '../support/data-folder.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { assembleFolder, makeMoments } from '../support/folder-moments.ts'
import { numberOf } from '../support/prometheus.ts'
import { visit } from '../support/visit.ts'

const HOUR_MS = 3_600_000
/** A check runs in a process of the lowest priority, which waits for as long as other work takes the cores. */
const CHECK_MS_MAX = 100_000

describe('startFileChecks', () => {
  let folder: string
  let dataDir: string
  let foldersCreated = 0
  let lines: { msg: string; level: number; [name: string]: unknown }[]
  before(async () => {
    folder = createFolder()
    await makeMoments(folder)
  })
  after(() => rmSync(folder, { recursive: true }))
  beforeEach(() => {
    foldersCreated += 1
    const whole = { terse: 'later', clicks: 'later', days: 'later' } as const
    dataDir = assembleFolder(folder, whole, `set-${foldersCreated}`)
    // The service that made the files checks them after 2 s; on a slow machine it still ran then.
    rmSync(path.join(dataDir, 'file-check.json'), { force: true })
    lines = []
  })

  const log = pino({ level: 'debug' }, { write: (line) => lines.push(JSON.parse(line)) })

  /** Runs until a result newer than the existing one is stored. */
  async function check(options: { uncheckedSinceMs?: number; fileCheckMs?: number } = {}) {
    const { uncheckedSinceMs, fileCheckMs = HOUR_MS } = options
    const before = readLastCheck(dataDir)
    const config = { dataDir, fileCheckMs }
    const checks = startFileChecks({ config, uncheckedSinceMs, log, firstDelayMs: 0 })
    try {
      return await eventually(async () => {
        const last = readLastCheck(dataDir)
        assert.ok(last !== undefined && last.endedMs !== before?.endedMs)
        return last
      }, CHECK_MS_MAX)
    } finally {
      await checks.stop()
    }
  }

  /** Overwrites a page in the middle of a file, as a failing disk may. */
  function damage(name: string): void {
    const file = path.join(dataDir, name)
    const middle = Math.floor(statSync(file).size / 2 / 4_096) * 4_096
    const fd = openSync(file, 'r+')
    writeSync(fd, Buffer.alloc(4_096, 0xa5), 0, 4_096, middle)
    closeSync(fd)
  }

  test('finds sound files, and logs that after the first check', async () => {
    const { faults, isFull } = await check()
    assert.deepEqual({ faults, isFull }, { faults: [], isFull: false })
    await check({ fileCheckMs: 1 })
    const { debug, info } = pino.levels.values
    assert.deepEqual(
      lines.map(({ msg, faults, level }) => ({ msg, faults, level })),
      [debug, info].map((level) => ({ msg: 'data files checked', faults: 0, level })),
      'the first check of a folder comes right after the greeting of its start',
    )
    assert.deepEqual(openFileHealth({ databaseUrl: undefined, dataDir })?.damagedFiles(), [])
    assert.equal(openFileHealth({ databaseUrl: 'postgres://a/b', dataDir }), undefined)
  })

  test('runs a full check once after an unclean end', async () => {
    const uncheckedSinceMs = Date.now() - 1_000
    assert.equal((await check({ uncheckedSinceMs })).isFull, true)
    const second = startFileChecks({
      config: { dataDir, fileCheckMs: HOUR_MS },
      uncheckedSinceMs,
      log,
      firstDelayMs: 0,
    })
    const { endedMs } = readLastCheck(dataDir) ?? {}
    await new Promise((resolve) => setTimeout(resolve, 20))
    await second.stop()
    assert.equal(readLastCheck(dataDir)?.endedMs, endedMs)
  })

  test('runs again when the interval has passed', async () => {
    const earlier = Date.now() - 2 * HOUR_MS
    writeLastCheck(dataDir, { startedMs: earlier, endedMs: earlier, isFull: true, faults: [] })
    assert.equal((await check()).isFull, false)
  })

  for (const name of ['terse.db', 'clicks.db'] as const) {
    test(`finds a damaged ${name}, which the next start refuses until it is replaced`, async () => {
      damage(name)
      const { faults } = await check()
      assert.ok(faults.length > 0 && faults.every(({ file }) => file === name))
      const [line] = lines
      assert.partialDeepStrictEqual(line, { msg: 'data file damaged', level: 50, file: name })
      await assert.rejects(
        serveFolder(dataDir, async () => {}),
        RefusedFiles,
      )
      copyFolder(path.join(folder, 'later'), dataDir, new RegExp(`^${name.replace('.', '\\.')}`))
      await serveFolder(dataDir, async ({ port }) => {
        const ready = JSON.parse((await visit(port, '/readyz')).body)
        assert.partialDeepStrictEqual(ready, { status: 'ok', damaged_files: [] })
      })
    })
  }

  test('shows damaged files in /readyz and /metrics, and the node keeps running', async () => {
    await serveFolder(dataDir, async ({ port }) => {
      const fault = { file: 'clicks.db', kind: 'damaged', text: 'a page is torn' } as const
      const now = Date.now()
      const faults = [fault, fault]
      writeLastCheck(dataDir, { startedMs: now - 5, endedMs: now, isFull: false, faults })
      const { status, body } = await visit(port, '/readyz')
      assert.equal(status, 200)
      assert.partialDeepStrictEqual(JSON.parse(body), {
        status: 'degraded',
        roles: { redirect: 'ok', api: 'ok' },
        damaged_files: ['clicks.db'],
      })
      const metrics = (await visit(port, '/metrics')).body
      assert.equal(numberOf(metrics, 'terse_damaged_files'), 1)
      assert.ok((numberOf(metrics, 'terse_file_check_age_seconds') ?? -1) >= 0)
    })
  })

  test('runs a check when the last result cannot be read', async () => {
    writeFileSync(path.join(dataDir, 'file-check.json'), '{"faults":')
    assert.equal(readLastCheck(dataDir), undefined)
    await check()
    assert.match(readFileSync(path.join(dataDir, 'file-check.json'), 'utf8'), /"faults":\[\]/)
  })
})
