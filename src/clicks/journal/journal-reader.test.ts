import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { clickOf, clicksFrom } from '../../../test/clicks/some-clicks.ts'
import { clicksOf, encodeFrame } from '../../../test/support/click-frames.ts'
import { createFolder } from '../../../test/support/engines.ts'
import type { Click } from '../click.ts'
import { ClickColumns } from '../click-columns.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { damagedJournalsFolder, journalsRoot, listSegments, segmentFile } from './journal-folder.ts'
import {
  backlogBytes,
  keepDamagedSegment,
  readBatch,
  readPending,
  removeIngestedSegments,
  totalBacklogBytes,
} from './journal-reader.ts'

const MIB = 1024 * 1024
const CLICKS_MAX = 5_000

describe('the journal reader', () => {
  let dataDir: string
  let folder: string
  beforeEach(() => {
    dataDir = createFolder()
    folder = path.join(journalsRoot(dataDir), 'one')
    mkdirSync(folder, { recursive: true })
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  function append(segment: number, ...parts: (Buffer | readonly Click[])[]): void {
    for (const part of parts) {
      appendFileSync(
        segmentFile(folder, segment),
        Buffer.isBuffer(part) ? part : encodeFrame(part as readonly Click[]),
      )
    }
  }

  /** Reads to the end, as the ingester does. */
  function readAll(writing: number) {
    const clicks: Click[] = []
    const batches: number[] = []
    let damaged = 0
    let position: JournalPosition | undefined
    for (;;) {
      const batch = readBatch(folder, position, writing, CLICKS_MAX)
      if (batch === undefined) return { clicks, batches, damaged, position }
      clicks.push(...clicksOf(batch.clicks))
      batches.push(batch.clicks.length)
      damaged += batch.damaged
      position = batch.next
    }
  }

  test('throws when a segment is gone; readPending takes that for the end', () => {
    append(1, clicksFrom(1, 2))
    // Listed, but without a file: as if it had been removed in between.
    symlinkSync(path.join(folder, 'gone'), segmentFile(folder, 2))
    append(3, clicksFrom(3, 2))
    const position = readBatch(folder, undefined, 3, 2)?.next
    assert.throws(() => readBatch(folder, position, 3, CLICKS_MAX), { code: 'ENOENT' })
    assert.equal(readPending(folder, position, 3, CLICKS_MAX), undefined)
  })

  test('reads segments in the order of their numbers', () => {
    append(10, clicksFrom(7, 2))
    append(9, clicksFrom(4, 3))
    append(2, clicksFrom(1, 3))
    const { clicks, damaged, position } = readAll(10)
    assert.deepEqual(clicks, clicksFrom(1, 8))
    assert.equal(damaged, 0)
    assert.deepEqual(position, { segment: 10, offset: encodeFrame(clicksFrom(7, 2)).length })
  })

  test('returns nothing from an empty journal', () => {
    assert.equal(readBatch(folder, undefined, 1, CLICKS_MAX), undefined)
    append(1, Buffer.alloc(0))
    assert.equal(readBatch(folder, undefined, 1, CLICKS_MAX), undefined)
  })

  test('continues where it stopped when clicks are appended later', () => {
    append(1, clicksFrom(1, 2))
    const { position } = readAll(1)
    assert.equal(readBatch(folder, position, 1, CLICKS_MAX), undefined)
    append(1, clicksFrom(3, 2))
    assert.deepEqual(
      clicksOf(readBatch(folder, position, 1, CLICKS_MAX)?.clicks ?? new ClickColumns()),
      clicksFrom(3, 2),
    )
  })

  test('waits for a frame that is still being written', () => {
    const half = encodeFrame(clicksFrom(3, 2)).subarray(0, 30)
    append(1, clicksFrom(1, 2), half)
    const { clicks, position, damaged } = readAll(1)
    assert.deepEqual(clicks, clicksFrom(1, 2))
    assert.equal(damaged, 0)
    append(1, encodeFrame(clicksFrom(3, 2)).subarray(30))
    assert.deepEqual(
      clicksOf(readBatch(folder, position, 1, CLICKS_MAX)?.clicks ?? new ClickColumns()),
      clicksFrom(3, 2),
    )
  })

  test('skips the torn tail of a complete segment and reports its length', () => {
    append(1, clicksFrom(1, 2), encodeFrame(clicksFrom(3, 2)).subarray(0, 30))
    append(2, clicksFrom(5, 1))
    const { clicks, damaged } = readAll(2)
    assert.deepEqual(clicks, [...clicksFrom(1, 2), clickOf(5)])
    assert.equal(damaged, 30)
  })

  test('returns many clicks in several batches, each ending at a frame', () => {
    for (let frame = 0; frame < 12; frame += 1) append(1, clicksFrom(frame * 1_000, 1_000))
    const { clicks, batches } = readAll(1)
    assert.deepEqual(clicks, clicksFrom(0, 12_000))
    assert.deepEqual(batches, [5_000, 5_000, 2_000])
  })

  const LARGE_DAMAGE = [
    { name: 'ends shortly before the end of a read block', damageBytes: 2 * MIB - 40 },
    { name: 'ends at the end of a read block', damageBytes: 2 * MIB },
    { name: 'is longer than a read block', damageBytes: 5 * MIB - 100 },
  ]
  for (const { name, damageBytes } of LARGE_DAMAGE) {
    test(`loses no frame after damage that ${name}, and returns all in one batch`, () => {
      append(1, clicksFrom(1, 3), Buffer.alloc(damageBytes), clicksFrom(4, 50), clicksFrom(54, 1))
      const { clicks, batches, damaged } = readAll(2)
      assert.deepEqual(clicks, clicksFrom(1, 54))
      assert.deepEqual(batches, [54])
      assert.equal(damaged, damageBytes)
    })
  }

  test('removes only segments that are complete and fully read', () => {
    for (const segment of [1, 2, 3, 4]) append(segment, clicksFrom(segment, 1))
    const end = encodeFrame([clickOf(1)]).length

    removeIngestedSegments(folder, { segment: 2, offset: end - 1 }, 4)
    assert.deepEqual(listSegments(folder), [2, 3, 4])

    removeIngestedSegments(folder, { segment: 2, offset: end }, 4)
    assert.deepEqual(listSegments(folder), [3, 4])

    removeIngestedSegments(folder, { segment: 4, offset: end }, 4)
    assert.deepEqual(listSegments(folder), [4])
  })

  test('measures the unread bytes of all journals in the data folder', () => {
    append(1, clicksFrom(1, 3))
    append(2, clicksFrom(4, 1))
    const first = encodeFrame(clicksFrom(1, 3)).length
    const second = encodeFrame([clickOf(4)]).length
    assert.equal(backlogBytes(folder, undefined), first + second)
    assert.equal(backlogBytes(folder, { segment: 1, offset: 5 }), first - 5 + second)
    assert.equal(backlogBytes(folder, { segment: 1, offset: first }), second)
    assert.equal(backlogBytes(folder, { segment: 2, offset: second }), 0)
    assert.equal(backlogBytes(folder, { segment: 3, offset: 0 }), 0)

    const other = path.join(journalsRoot(dataDir), 'two')
    mkdirSync(other)
    writeFileSync(segmentFile(other, 1), Buffer.alloc(17))
    const positions = new Map([['one', { segment: 1, offset: first }]])
    assert.equal(totalBacklogBytes(dataDir, positions), second + 17)
  })

  test('measures zero when there is no journal', () => {
    assert.equal(totalBacklogBytes(path.join(dataDir, 'nowhere'), new Map()), 0)
  })

  test('copies a damaged segment into the folder for damaged journals', () => {
    append(3, Buffer.from('not a frame'))
    const copy = keepDamagedSegment({ id: 'one', folder }, 3)
    assert.equal(path.dirname(copy), damagedJournalsFolder(dataDir))
    assert.equal(readFileSync(copy, 'latin1'), 'not a frame')
    assert.ok(existsSync(segmentFile(folder, 3)))
  })

  test('ignores other files in the folder', () => {
    for (const name of ['lock', '1.journal', '0000000001.journal.bak', 'x0000000001.journal']) {
      writeFileSync(path.join(folder, name), 'something')
    }
    assert.deepEqual(listSegments(folder), [])
  })
})
