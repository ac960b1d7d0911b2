import assert from 'node:assert/strict'
import { appendFileSync, rmSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { clicksFrom } from '../../../test/clicks/some-clicks.ts'
import { encodeFrame } from '../../../test/support/click-frames.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { segmentFile } from '../journal/journal-folder.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { DrainProgress, type JournalDamage } from './drain-messages.ts'
import { Drainer } from './drainer.ts'

/** The drainer's first batch begins so long after a click. */
const FIRST_MS = 20
const STEP_MS = 400
const CLICKS_PER_FRAME = 1_000

/** Drains a journal in a time of its own. */
function startDrainer(t: TestContext, options: { batchMax?: number; storingMs?: number } = {}) {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const { batchMax = 40_000, storingMs = 0 } = options
  let nowMs = 5_000
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const batches: number[] = []
  let segment = 1
  const drainer = new Drainer({
    keepMs: 0,
    writer: {
      batchMax,
      spools: { list: async () => [], read: async () => undefined },
      findPosition: async () => undefined,
      async write({ clicks }) {
        batches.push(clicks.length)
        nowMs += storingMs
        return true
      },
      maintain: async () => {},
      erase: async () => {},
      close: async () => {},
    },
    clock: systemClock(),
    journal: { id: 'journal', folder },
    activeSegment: () => segment,
    progress: new DrainProgress(),
    onError: (error) => assert.fail(String(error)),
    onDamage: () => assert.fail('damaged'),
  })
  return {
    batches,
    wake: () => drainer.wake(),
    startSegment: () => {
      segment += 1
    },
    /** Appends clicks, then lets time pass. */
    async pass(ms: number, clicks: number): Promise<void> {
      for (let left = clicks; left > 0; left -= CLICKS_PER_FRAME) {
        const frame = encodeFrame(clicksFrom(1, Math.min(left, CLICKS_PER_FRAME)))
        appendFileSync(segmentFile(folder, segment), frame)
      }
      nowMs += ms
      t.mock.timers.tick(ms)
      await turn()
    },
  }
}

describe('the drainer under load', () => {
  test('counts every 0.4 s while fewer than 5,000 clicks come in a second', async (t) => {
    const { batches, wake, pass } = startDrainer(t)
    wake()
    await pass(FIRST_MS, 200)
    for (let step = 0; step < 4; step += 1) await pass(STEP_MS, 1_900)
    assert.deepEqual(batches, [200, 1_900, 1_900, 1_900, 1_900])
  })

  test('lets clicks wait for each other while more come, longer the more come, until fewer do', async (t) => {
    const { batches, wake, pass } = startDrainer(t)
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 2_400)
    for (let step = 1; step <= 6; step += 1) {
      assert.deepEqual(batches, [200, 2_400])
      await pass(500, 3_000)
    }
    assert.deepEqual(batches, [200, 2_400, 18_000])
    await pass(3_000, 5_000)
    await pass(STEP_MS, 300)
    assert.deepEqual(batches, [200, 2_400, 18_000, 5_000, 300])
  })

  test('lets no click wait longer than 8.5 s', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { batchMax: 1_000_000 })
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 16_000)
    await pass(8_499, 40_000)
    assert.deepEqual(batches, [200, 16_000])
    await pass(1, 9)
    assert.deepEqual(batches, [200, 16_000, 40_009])
  })

  test('lets no more clicks wait than a batch has room for', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { batchMax: 10_000 })
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 3_600)
    await pass(999, 8_991)
    assert.deepEqual(batches, [200, 3_600])
    await pass(1, 9)
    assert.deepEqual(batches, [200, 3_600, 9_000])
  })

  test('counts more than a batch at a time when they came faster than before', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { batchMax: 10_000 })
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 3_600)
    for (let step = 1; step <= 5; step += 1) await pass(200, 3_000)
    assert.deepEqual(batches, [200, 3_600, 10_000, 5_000])
  })

  test('goes on with the next segment at once', async (t) => {
    const { batches, wake, pass, startSegment } = startDrainer(t)
    wake()
    await pass(FIRST_MS, 200)
    await pass(200, 1_000)
    startSegment()
    await pass(200, 600)
    assert.deepEqual(batches, [200, 1_000, 600])
  })

  test('counts earlier when storing takes long', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { storingMs: 400 })
    wake()
    await pass(FIRST_MS, 200)
    // With the time to store the first ones, 800 ms: half of the time is spent storing.
    await pass(STEP_MS, 8_000)
    await pass(2_933, 6_000)
    assert.deepEqual(batches, [200, 8_000])
    await pass(1, 100)
    assert.deepEqual(batches, [200, 8_000, 6_100])
  })
})

describe('a batch that was begun, after the end of its journal was lost', () => {
  const FRAME = encodeFrame(clicksFrom(1, 3))

  /** Drains a journal with segments of so many frames, over a store in which a batch was begun. */
  async function drain(
    t: TestContext,
    segments: Readonly<Record<number, number>>,
    { from, end }: Readonly<Record<'from' | 'end', JournalPosition>>,
  ) {
    const folder = createFolder()
    t.after(() => rmSync(folder, { recursive: true }))
    for (const [segment, frames] of Object.entries(segments)) {
      const file = segmentFile(folder, Number(segment))
      for (let frame = 0; frame < frames; frame += 1) appendFileSync(file, FRAME)
    }
    let position: JournalPosition = from
    const written: (readonly [JournalPosition, number])[] = []
    const damages: JournalDamage[] = []
    const drainer = new Drainer({
      keepMs: Number.POSITIVE_INFINITY,
      writer: {
        batchMax: 1_000,
        spools: { list: async () => [], read: async () => undefined },
        findPosition: async () => position,
        findEnd: async (_journal, at) => (at === from ? end : undefined),
        async write({ to, clicks }) {
          written.push([to, clicks.length])
          position = to
          return true
        },
        maintain: async () => {},
        erase: async () => {},
        close: async () => {},
      },
      clock: systemClock(),
      journal: { id: 'journal', folder },
      activeSegment: () => 9,
      progress: new DrainProgress(),
      onError: (error) => assert.fail(String(error)),
      onDamage: (damage) => damages.push(damage),
    })
    await drainer.drain()
    return { written, damages }
  }

  const { length } = FRAME

  test('ends where it was begun, and reports the bytes that are missing', async (t) => {
    const end = { segment: 2, offset: 2 * length }
    const from = { segment: 2, offset: 0 }
    const { written, damages } = await drain(t, { 2: 1, 4: 1 }, { from, end })
    assert.deepEqual(written, [
      [end, 3],
      [{ segment: 4, offset: length }, 3],
    ])
    assert.deepEqual(
      damages.map(({ bytes, clicks, missingSegments }) => ({ bytes, clicks, missingSegments })),
      [
        { bytes: length, clicks: 3, missingSegments: 0 },
        { bytes: 0, clicks: damages[1]?.clicks, missingSegments: 1 },
      ],
    )
  })

  for (const [what, from] of [
    ['whole segment', { segment: 1, offset: length }],
    ['rest of a segment', { segment: 2, offset: length }],
  ] as const) {
    test(`lets the clicks of later segments count when the ${what} is lost`, async (t) => {
      const end = { segment: 2, offset: 2 * length }
      const { written, damages } = await drain(t, { 1: 1, 3: 2 }, { from, end })
      assert.deepEqual(written, [
        [end, 0],
        [{ segment: 3, offset: 2 * length }, 6],
      ])
      assert.equal(damages.length, 1)
      assert.equal(damages[0]?.bytes, from.segment === 2 ? length : 2 * length)
    })
  }

  test('waits for a complete copy when nothing follows', async (t) => {
    const from = { segment: 1, offset: length }
    const { written } = await drain(t, { 1: 1 }, { from, end: { segment: 2, offset: length } })
    assert.deepEqual(written, [])
  })
})
