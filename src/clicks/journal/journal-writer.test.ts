import assert from 'node:assert/strict'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { clicksInFolder, FakeFiles } from '../../../test/clicks/fake-files.ts'
import { clickOf, clicksFrom } from '../../../test/clicks/some-clicks.ts'
import { encodeFrame } from '../../../test/support/click-frames.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { cases } from '../../../test/support/properties.ts'
import { listSegments, segmentFile } from './journal-folder.ts'
import { type JournalFiles, JournalWriter } from './journal-writer.ts'

describe('JournalWriter', () => {
  let folder: string
  let files: FakeFiles
  let lost: number[]
  let errors: unknown[]
  let wakes: number
  beforeEach(() => {
    folder = createFolder()
    files = new FakeFiles()
    lost = []
    errors = []
    wakes = 0
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function createWriter(
    options: {
      files?: JournalFiles
      createFolder?: () => void
      freeSpace?: (error: unknown) => boolean
    } = {},
  ) {
    return new JournalWriter({
      folder,
      durability: 'process',
      files,
      createFolder: () => {},
      onWritten: () => {
        wakes += 1
      },
      onLost: (count, error) => {
        lost.push(count)
        errors.push(error)
      },
      onDoubt: () => assert.fail('durability "process" does not wait for the disk'),
      ...options,
    })
  }

  /** Records one click and waits until it is written. */
  async function recordOne(writer: JournalWriter, at: number): Promise<void> {
    await new Promise<void>((resolve) => writer.record(clickOf(at), () => resolve()))
  }

  /** The size of a segment’s file in bytes. */
  function sizeOf(segment: number): number | undefined {
    return files.contents.get(segmentFile(folder, segment))?.length
  }

  test('writes all clicks of one event-loop turn in one write', async () => {
    const writer = createWriter()
    for (const click of clicksFrom(1, 100)) writer.record(click, () => {})
    assert.equal(files.count('write'), 0)
    await nextTurn()
    assert.equal(files.count('write'), 1)
    assert.deepEqual(files.clicks(), clicksFrom(1, 100))
    assert.equal(wakes, 1)

    writer.record(clickOf(101), () => {})
    await nextTurn()
    assert.equal(files.count('write'), 2)
    assert.deepEqual(files.clicks(), clicksFrom(1, 101))
    assert.equal(files.count('open'), 1)
  })

  test('calls back after the click is written, in the order of the clicks', async () => {
    const writer = createWriter()
    const seen: [number, number][] = []
    for (const at of [1, 2, 3]) {
      writer.record(clickOf(at), () => seen.push([at, files.clicks().length]))
    }
    assert.deepEqual(seen, [])
    await nextTurn()
    assert.deepEqual(seen, [
      [1, 3],
      [2, 3],
      [3, 3],
    ])
  })

  test('writes clicks that are recorded from within a callback', async () => {
    const writer = createWriter()
    await new Promise<void>((resolve) => {
      writer.record(clickOf(1), () => writer.record(clickOf(2), () => resolve()))
    })
    assert.deepEqual(files.clicks(), clicksFrom(1, 2))
  })

  test('continues after a short write', async () => {
    files.writeBytesMax = 7
    const writer = createWriter()
    await recordOne(writer, 1)
    await recordOne(writer, 2)
    assert.deepEqual(files.clicks(), clicksFrom(1, 2))
    assert.equal(writer.counts.lost, 0)
  })

  test('splits clicks that exceed one frame, and keeps them all', async () => {
    const writer = createWriter()
    const clicks = clicksFrom(1, 45_000)
    let acknowledged = 0
    for (const click of clicks) {
      writer.record(click, () => {
        acknowledged += 1
      })
    }
    await nextTurn()
    assert.equal(acknowledged, clicks.length)
    assert.deepEqual(files.clicks(), clicks)
  })

  test('truncates a write for which the disk has only partial room', async () => {
    const writer = createWriter()
    await recordOne(writer, 1)
    const before = sizeOf(1) ?? 0
    files.roomBytes = before + 20

    await recordOne(writer, 2)

    assert.equal(sizeOf(1), before)
    assert.deepEqual(lost, [1])
    assert.equal((errors[0] as { code?: string }).code, 'ENOSPC')
    assert.equal(writer.counts.lost, 1)

    files.roomBytes = Number.POSITIVE_INFINITY
    await recordOne(writer, 3)
    assert.deepEqual(files.clicks(), [clickOf(1), clickOf(3)])
    assert.equal(writer.segment, 1)
  })

  test('says of each click whether it was stored', async () => {
    const writer = createWriter()
    const stored: [number, boolean][] = []
    const record = (at: number) =>
      writer.record(clickOf(at), (isStored) => stored.push([at, isStored]))
    record(1)
    await nextTurn()
    const before = sizeOf(1) ?? 0
    files.roomBytes = before + 20
    record(2)
    record(3)
    await nextTurn()
    files.roomBytes = Number.POSITIVE_INFINITY
    record(4)
    await nextTurn()
    assert.deepEqual(stored, [
      [1, true],
      [2, false],
      [3, false],
      [4, true],
    ])
  })

  test('says so of the clicks of each frame of a turn', async () => {
    const writer = createWriter()
    const clicks = clicksFrom(1, 10_000)
    const stored: boolean[] = []
    for (const click of clicks) writer.record(click, (isStored) => stored.push(isStored))
    // Full frames are written; there is no room for the last one.
    files.roomBytes = sizeOf(1) ?? 0
    await nextTurn()
    const kept = files.clicks().length
    assert.ok(kept > 0 && kept < clicks.length, `${kept}`)
    assert.deepEqual(
      stored,
      clicks.map((_, nth) => nth < kept),
    )
  })

  test('loses nothing when room is made on a full disk', async () => {
    const freeSpace = (error: unknown) => {
      assert.equal((error as { code?: string }).code, 'ENOSPC')
      files.roomBytes = Number.POSITIVE_INFINITY
      return true
    }
    const writer = createWriter({ freeSpace })
    await recordOne(writer, 1)
    files.roomBytes = (sizeOf(1) ?? 0) + 20
    await recordOne(writer, 2)
    assert.equal(writer.counts.lost, 0)
    assert.equal(writer.counts.recorded, 2)
    assert.deepEqual(files.clicks(), clicksFrom(1, 2))
  })

  test('loses the clicks of a write once when the room made is not enough', async () => {
    let asked = 0
    const freeSpace = () => {
      asked += 1
      return true
    }
    const writer = createWriter({ freeSpace })
    await recordOne(writer, 1)
    files.roomBytes = (sizeOf(1) ?? 0) + 20
    await recordOne(writer, 2)
    assert.equal(asked, 1)
    assert.deepEqual(lost, [1])
    assert.deepEqual(files.clicks(), [clickOf(1)])
  })

  test('leaves a torn tail in a closed segment when it cannot truncate a partial write', async () => {
    const writer = createWriter()
    await recordOne(writer, 1)
    const whole = sizeOf(1) ?? 0
    files.roomBytes = whole + 20
    files.failing.add('truncate')
    await recordOne(writer, 2)
    files.roomBytes = Number.POSITIVE_INFINITY
    await recordOne(writer, 3)

    assert.equal(sizeOf(1), whole + 20)
    assert.equal(writer.segment, 2)
    assert.deepEqual(files.clicks(), [clickOf(1), clickOf(3)])
    assert.equal(writer.counts.lost, 1)
    assert.equal(files.openHandles(), 1)
  })

  test('counts clicks as lost while the journal cannot be opened, and retries with the next click', async () => {
    files.failing.add('open')
    const writer = createWriter()
    await Promise.all([recordOne(writer, 1), recordOne(writer, 2)])
    assert.deepEqual(lost, [2])
    files.failing.clear()
    await recordOne(writer, 3)
    assert.deepEqual(files.clicks(), [clickOf(3)])
    assert.equal(writer.counts.lost, 2)
  })

  test('counts the clicks of a write of zero bytes as lost, without an endless loop', async () => {
    files.writeBytesMax = 0
    const writer = createWriter()
    await recordOne(writer, 1)
    assert.deepEqual(lost, [1])
    assert.equal(files.count('write'), 1)
  })

  test('ignores a handle that cannot be closed', async () => {
    const writer = createWriter()
    await recordOne(writer, 1)
    files.failing.add('close')
    await writer.close()
    assert.deepEqual(files.clicks(), [clickOf(1)])
    assert.equal(writer.counts.lost, 0)
  })

  test('keeps or counts every click, and calls back for each, for any sequence of failures', async () => {
    const fault = fc.record({
      clicks: fc.integer({ min: 1, max: 4 }),
      failing: fc.subarray(['open', 'write', 'truncate', 'close'] as const),
      writeBytesMax: fc.constantFrom(1, 5, 30, Number.POSITIVE_INFINITY),
      extraRoom: fc.constantFrom(0, 1, 11, 29, 30, Number.POSITIVE_INFINITY),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (turns) => {
        files = new FakeFiles()
        lost = []
        const writer = createWriter({ files })
        let at = 0
        let acknowledged = 0
        for (const turn of turns) {
          files.failing.clear()
          for (const name of turn.failing) files.failing.add(name)
          files.writeBytesMax = turn.writeBytesMax
          const used = [...files.contents.values()].reduce((sum, bytes) => sum + bytes.length, 0)
          files.roomBytes = used + turn.extraRoom
          for (let index = 0; index < turn.clicks; index += 1) {
            at += 1
            writer.record(clickOf(at), () => {
              acknowledged += 1
            })
          }
          writer.flush()
        }
        assert.equal(acknowledged, at)
        const kept = files.clicks().map((click) => click.at)
        assert.equal(new Set(kept).size, kept.length)
        assert.equal(kept.length + writer.counts.lost, at)
        assert.equal(
          lost.reduce((sum, count) => sum + count, 0),
          writer.counts.lost,
        )
      }),
      cases(300),
    )
  })

  test('starts a new segment after 16 MiB', async () => {
    const writer = createWriter()
    const clicks = clicksFrom(1, 5_000)
    const frameBytes = encodeFrame(clicks).length
    const perSegment = Math.floor((16 * 1024 * 1024) / frameBytes) + 1
    for (let frame = 0; frame <= perSegment; frame += 1) {
      for (const click of clicks) writer.record(click, () => {})
      writer.flush()
    }
    assert.equal(writer.segment, 2)
    assert.equal(sizeOf(1), perSegment * frameBytes)
    assert.equal(sizeOf(2), frameBytes)
    assert.equal(files.openHandles(), 1)
    assert.equal(writer.counts.lost, 0)
  })

  test('writes waiting clicks at once when it is closed', async () => {
    const writer = createWriter()
    let done = false
    writer.record(clickOf(1), () => {
      done = true
    })
    const closed = writer.close()
    assert.equal(done, true)
    assert.deepEqual(files.clicks(), [clickOf(1)])
    await closed
    assert.equal(files.openHandles(), 0)
  })

  test('loses only the clicks recorded before its folder could be created', async () => {
    const refusals = [new Error('full'), new Error('still full')]
    const writer = createWriter({
      createFolder() {
        const refusal = refusals.shift()
        if (refusal !== undefined) throw refusal
      },
    })
    for (let at = 1; at <= 4; at += 1) await recordOne(writer, at)
    assert.deepEqual(lost, [1, 1])
    assert.deepEqual(files.clicks(), clicksFrom(3, 2))
  })

  const FIRST_SEGMENTS = [
    { name: 'in an empty journal', present: [], expected: 1 },
    { name: 'after the last existing segment', present: [3, 7], expected: 8 },
  ]
  for (const { name, present, expected } of FIRST_SEGMENTS) {
    test(`starts a new segment ${name}`, async () => {
      for (const segment of present) writeFileSync(segmentFile(folder, segment), 'torn')
      const writer = createWriter()
      assert.equal(writer.segment, expected)
      await recordOne(writer, 1)
      assert.deepEqual([...files.contents.keys()], [segmentFile(folder, expected)])
    })
  }

  test('writes real files that only their owner can read', async () => {
    const writer = new JournalWriter({
      folder,
      createFolder: () => {},
      onWritten: () => {},
      durability: 'process',
      onLost: (_count, error) => assert.fail(String(error)),
      onDoubt: (_count, error) => assert.fail(String(error)),
    })
    await recordOne(writer, 1)
    await recordOne(writer, 2)
    await writer.close()
    assert.deepEqual(clicksInFolder(folder), clicksFrom(1, 2))
    assert.deepEqual(listSegments(folder), [1])
    assert.equal(statSync(segmentFile(folder, 1)).mode & 0o777, 0o600)
  })
})
