import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { clicksInFolder, FakeFiles } from '../../../test/clicks/fake-files.ts'
import { clickOf, clicksFrom } from '../../../test/clicks/some-clicks.ts'
import { encodeFrame } from '../../../test/support/click-frames.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { cases } from '../../../test/support/properties.ts'
import { segmentFile } from './journal-folder.ts'
import { JournalWriter } from './journal-writer.ts'

describe('JournalWriter with durability "disk"', () => {
  let folder: string
  let files: FakeFiles
  let acknowledged: number[]
  let doubtful: number[]
  beforeEach(() => {
    folder = createFolder()
    files = new FakeFiles()
    acknowledged = []
    doubtful = []
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function createWriter(): JournalWriter {
    return new JournalWriter({
      folder,
      durability: 'disk',
      files,
      createFolder: () => {},
      onWritten: () => {},
      onLost: () => {},
      onDoubt: (count) => doubtful.push(count),
    })
  }

  /** Records clicks in one turn of the event loop and waits until the writer has flushed them. */
  async function record(writer: JournalWriter, ...clicks: number[]): Promise<void> {
    for (const at of clicks) writer.record(clickOf(at), () => acknowledged.push(at))
    await nextTurn()
    await nextTurn()
  }

  async function settleSyncs(): Promise<void> {
    files.settleSyncs()
    await nextTurn()
  }

  test('calls back when the clicks are on disk, and not before', async () => {
    const writer = createWriter()
    files.holdSyncs = true
    await record(writer, 1, 2)
    assert.deepEqual(files.clicks(), clicksFrom(1, 2), 'they are written')
    assert.deepEqual(acknowledged, [])
    files.holdSyncs = false
    await settleSyncs()
    assert.deepEqual(acknowledged, [1, 2])
    assert.deepEqual(files.clicks(files.onDisk), clicksFrom(1, 2))
  })

  test('runs one sync at a time, and one sync covers all clicks recorded since the last began', async () => {
    const writer = createWriter()
    await record(writer, 1)
    const before = files.count('sync')
    files.holdSyncs = true
    for (const at of [2, 3, 4, 5]) await record(writer, at)
    await settleSyncs()
    assert.deepEqual(
      acknowledged,
      [1, 2],
      'the sync that began with the second click covers only that click',
    )
    await settleSyncs()
    assert.deepEqual(acknowledged, [1, 2, 3, 4, 5])
    assert.equal(files.count('sync') - before, 2)
  })

  test('syncs the folders when a file or folder is new, and only then', async () => {
    const writer = createWriter()
    await record(writer, 1)
    assert.equal(files.count('syncFolder'), 3)
    await record(writer, 2)
    assert.equal(files.count('syncFolder'), 3)
  })

  test('continues in another segment after a failed sync, and reports the clicks in doubt', async () => {
    const writer = createWriter()
    await record(writer, 1)
    files.holdSyncs = true
    await record(writer, 2, 3)
    await record(writer, 4)
    files.failing.add('sync')
    await settleSyncs()
    files.failing.clear()
    assert.deepEqual(acknowledged, [1, 2, 3, 4], 'all are redirected')
    assert.deepEqual(doubtful, [3], 'the fourth is in the file that cannot be trusted')
    assert.equal(writer.counts.doubtful, 3)
    assert.equal(writer.counts.lost, 0)

    files.holdSyncs = false
    await record(writer, 5)
    assert.equal(writer.segment, 2)
    assert.deepEqual(files.clicks(files.onDisk), [clickOf(1), clickOf(5)])
    assert.deepEqual(files.clicks(), clicksFrom(1, 5), 'a machine that keeps running has them all')
    assert.equal(files.openHandles(), 1)
  })

  test('reports the clicks in doubt when syncing a folder fails', async () => {
    const writer = createWriter()
    files.failing.add('syncFolder')
    await record(writer, 1)
    assert.deepEqual(doubtful, [1])
    files.failing.clear()
    await record(writer, 2)
    assert.deepEqual(doubtful, [1])
    assert.equal(files.count('syncFolder'), 1 + 3, 'all folders are tried again')
  })

  test('calls back at once when nothing could be written', async () => {
    const writer = createWriter()
    files.failing.add('open')
    await record(writer, 1)
    await record(writer, 2)
    assert.deepEqual(acknowledged, [1, 2])
    assert.equal(writer.counts.lost, 2)
    files.failing.clear()
    await record(writer, 3)
    assert.deepEqual(files.clicks(files.onDisk), [clickOf(3)])
  })

  for (const held of [1, 3]) {
    test(`keeps a full segment open until its last writes are on disk (${held} pending)`, async () => {
      const writer = createWriter()
      const frame = clicksFrom(1, 5_000)
      const frames = Math.floor((16 * 1024 * 1024) / encodeFrame(frame).length) + 1
      for (let index = 1; index <= frames; index += 1) {
        files.holdSyncs = index > frames - held
        for (const { at } of frame) writer.record(clickOf(at), () => acknowledged.push(at))
        writer.flush()
        await nextTurn()
      }
      assert.equal(writer.segment, 1)
      await record(writer, 0)
      assert.equal(writer.segment, 2)
      assert.equal(files.openHandles(), 2)
      files.holdSyncs = false
      await settleSyncs()
      assert.equal(acknowledged.length, frames * 5_000 + 1)
      assert.equal(files.clicks(files.onDisk).length, acknowledged.length)
      assert.equal(files.openHandles(), 1)
      assert.deepEqual([...files.onDisk.keys()], [segmentFile(folder, 1), segmentFile(folder, 2)])
    })
  }

  test('waits for the disk when it is closed', async () => {
    const writer = createWriter()
    files.holdSyncs = true
    writer.record(clickOf(1), () => acknowledged.push(1))
    const closed = writer.close()
    files.holdSyncs = false
    await settleSyncs()
    await closed
    assert.deepEqual(acknowledged, [1])
    assert.equal(files.openHandles(), 0)
  })

  test('syncs real files', async () => {
    const writer = new JournalWriter({
      folder,
      durability: 'disk',
      createFolder: () => {},
      onWritten: () => {},
      onLost: (_count, error) => assert.fail(String(error)),
      onDoubt: (_count, error) => assert.fail(String(error)),
    })
    for (const at of [1, 2, 3]) {
      await new Promise<void>((resolve) => writer.record(clickOf(at), () => resolve()))
    }
    await writer.close()
    assert.deepEqual(clicksInFolder(folder), clicksFrom(1, 3))
  })

  test('has each acknowledged click on disk, lost or in doubt, for any sequence of failures', async () => {
    const step = fc.record({
      clicks: fc.integer({ min: 0, max: 3 }),
      failing: fc.subarray(['open', 'write', 'truncate', 'close', 'sync', 'syncFolder'] as const),
      hold: fc.boolean(),
      settle: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        files = new FakeFiles()
        acknowledged = []
        const writer = createWriter()
        let recorded = 0
        function check(): void {
          const safe = new Set(files.clicks(files.onDisk).map(({ at }) => at))
          const unsafe = acknowledged.filter((at) => !safe.has(at)).length
          assert.ok(
            unsafe <= writer.counts.lost + writer.counts.doubtful,
            `${unsafe} answered and not on disk`,
          )
        }
        for (const { clicks, failing, hold, settle } of steps) {
          files.failing.clear()
          for (const name of failing) files.failing.add(name)
          files.holdSyncs = hold
          const ats = Array.from({ length: clicks }, (_, index) => recorded + index + 1)
          recorded += clicks
          await record(writer, ...ats)
          if (settle) await settleSyncs()
          check()
        }
        files.failing.clear()
        files.holdSyncs = false
        await settleSyncs()
        await writer.close()
        check()
        assert.equal(acknowledged.length, recorded, 'every visitor is answered')
        assert.equal(new Set(acknowledged).size, recorded, 'and once')
        assert.equal(files.clicks().length + writer.counts.lost, recorded)
      }),
      cases(100),
    )
  })
})
