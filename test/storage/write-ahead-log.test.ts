import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Failure } from '../../src/platform/failure.ts'
import { GroupCommit } from '../../src/storage/sqlite/group-commit.ts'
import { WriteAheadLog } from '../../src/storage/sqlite/write-ahead-log.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'

const NO_PENDING_WRITES = {
  count: 0,
  flush: async () => {},
  undo() {},
  committed() {},
}
const CHECKPOINT_FRAMES = 100
/** Takes ten frames. */
const LARGE = 'x'.repeat(40_000)

describe('the write-ahead log of a database that commits without a sync', () => {
  let folder: string
  let file: string
  let writer: DatabaseSync
  let reader: DatabaseSync
  let log: WriteAheadLog
  let commits: GroupCommit
  /** Called in place of a sync. */
  let sync: () => Promise<void>
  let syncs: number
  let errors: unknown[]
  beforeEach(() => {
    folder = createFolder()
    file = path.join(folder, 'test.db')
    writer = new DatabaseSync(file, { timeout: 0 })
    writer.exec('pragma journal_mode = wal; create table writes (n integer, text text)')
    writer.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
    reader = new DatabaseSync(file)
    sync = async () => {}
    syncs = 0
    errors = []
    log = new WriteAheadLog({
      file,
      reader,
      onError: (error) => errors.push(error),
      checkpointFrames: CHECKPOINT_FRAMES,
      sync() {
        syncs += 1
        return sync()
      },
    })
    commits = new GroupCommit(writer, NO_PENDING_WRITES, log)
  })
  afterEach(async () => {
    await commits.idle()
    await log.close()
    reader.close()
    writer.close()
    rmSync(folder, { recursive: true })
  })

  const insert = (n: number, text = '') =>
    commits.run(async () => writer.prepare('insert into writes values (?, ?)').run(n, text))
  const count = () => reader.prepare('select count(*) as count from writes').get()?.count
  function position(): { frames: number; checkpointed: number } {
    const row = reader.prepare('pragma wal_checkpoint(noop)').get()
    return { frames: Number(row?.log), checkpointed: Number(row?.checkpointed) }
  }
  const failed = () => Promise.reject(Object.assign(new Error('failed'), { code: 'EIO' }))

  /** Makes the next syncs wait. */
  function holdSyncs(): { release(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    sync = () => promise
    return { release: resolve }
  }

  test('settles a write after a sync that began when it was committed', async () => {
    const held = holdSyncs()
    let isSettled = false
    const write = insert(1).then(() => {
      isSettled = true
    })
    await eventually(async () => assert.equal(syncs, 1))
    assert.equal(count(), 1)
    for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    assert.equal(isSettled, false)
    held.release()
    await write
  })

  test('lets the writes that come during a sync share the next one', async () => {
    const held = holdSyncs()
    const writes = [insert(1)]
    await eventually(async () => assert.equal(syncs, 1))
    for (let n = 2; n < 12; n += 1) {
      writes.push(insert(n))
      await nextTurn()
    }
    assert.equal(syncs, 1)
    held.release()
    await Promise.all(writes)
    assert.equal(syncs, 2)
  })

  test('has the first frame of an empty log written by its thread', async () => {
    const other = new DatabaseSync(file)
    other.exec('pragma wal_checkpoint(passive)')
    other.close()
    const { frames, checkpointed } = position()
    assert.equal(frames, checkpointed)
    await insert(1)
    // One of the write, after one that changes nothing.
    assert.deepEqual(position(), { frames: 2, checkpointed: 0 })
  })

  test('moves a long log into the file, also while it is written to without a pause', async () => {
    let previous = 0
    let restarts = 0
    for (let n = 0; restarts < 3; n += 1) {
      await insert(n, LARGE)
      const { frames } = position()
      if (frames < previous) restarts += 1
      previous = frames
    }
    assert.deepEqual(errors, [])
  })

  test('continues a log that a reader needs, and moves it when the reader has ended', async () => {
    const old = new DatabaseSync(file)
    old.exec('begin; select count(*) from writes')
    let writes = 0
    const write = async () => {
      await insert(writes, LARGE)
      writes += 1
    }
    while (position().frames < 3 * CHECKPOINT_FRAMES) await write()
    old.close()
    while (position().frames > CHECKPOINT_FRAMES) await write()
    assert.equal(count(), writes)
    assert.deepEqual(errors, [])
  })

  test('writes the log again after a failed sync, and acknowledges the write then', async () => {
    await insert(1)
    sync = failed
    await insert(2)
    assert.equal(errors.length, 1)
    sync = async () => {}
    await insert(3)
    const copy = path.join(folder, 'copy.db')
    for (const suffix of ['', '-wal']) writeFileSync(copy + suffix, readFileSync(file + suffix))
    const recovered = new DatabaseSync(copy)
    assert.equal(recovered.prepare('select count(*) as count from writes').get()?.count, 3)
    recovered.close()
  })

  test('acknowledges nothing after a failed sync whose frames are lost', async () => {
    await insert(1)
    const before = position().frames
    sync = () => {
      // As file systems do that drop what they could not write.
      const bytes = readFileSync(`${file}-wal`)
      bytes.fill(0, 32 + before * 4120 + 24)
      writeFileSync(`${file}-wal`, bytes, { flag: 'r+' })
      return failed()
    }
    const isRefused = (error: unknown) =>
      error instanceof Failure && error.code === 'unavailable' && error.message.includes(folder)
    await assert.rejects(insert(2), isRefused)
    sync = async () => {}
    await assert.rejects(insert(3), isRefused)
    assert.equal(errors.length, 1)
  })
})
