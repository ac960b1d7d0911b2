import assert from 'node:assert/strict'
import { appendFileSync, rmSync } from 'node:fs'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { clicksFrom } from '../../../test/clicks/some-clicks.ts'
import { createFolder } from '../../../test/support/engines.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { encodeFrame } from '../journal/frame.ts'
import { segmentFile } from '../journal/segments.ts'
import { DrainProgress } from './drain-progress.ts'
import { Drainer } from './drainer.ts'

/** The drainer's first batch begins so long after a click. */
const FIRST_MS = 20
const STEP_MS = 400

/** Drains a journal in a time of its own. */
function startDrainer(t: TestContext, options: { batchMax?: number; storingMs?: number } = {}) {
  const folder = createFolder()
  t.after(() => rmSync(folder, { recursive: true }))
  const { batchMax = 40_000, storingMs = 0 } = options
  let nowMs = 5_000
  t.mock.method(performance, 'now', () => nowMs)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const batches: number[] = []
  const drainer = new Drainer({
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
    activeSegment: () => 1,
    progress: new DrainProgress(),
    onError: (error) => assert.fail(String(error)),
    onDamage: () => assert.fail('damaged'),
  })
  return {
    batches,
    wake: () => drainer.wake(),
    /** Appends clicks, then lets time pass. */
    async pass(ms: number, clicks: number): Promise<void> {
      if (clicks > 0) appendFileSync(segmentFile(folder, 1), encodeFrame(clicksFrom(1, clicks)))
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

  test('lets clicks wait for each other while more come, until fewer do', async (t) => {
    const { batches, wake, pass } = startDrainer(t)
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 2_500)
    await pass(STEP_MS, 2_500)
    assert.deepEqual(batches, [200])
    await pass(STEP_MS, 100)
    assert.deepEqual(batches, [200, 5_100])
  })

  test('lets no click wait for more than 2.5 s', async (t) => {
    const { batches, wake, pass } = startDrainer(t)
    wake()
    await pass(FIRST_MS, 200)
    for (let step = 1; step <= 5; step += 1) await pass(STEP_MS, 2_500)
    assert.deepEqual(batches, [200])
    await pass(STEP_MS, 2_500)
    assert.deepEqual(batches, [200, 15_000])
  })

  test('lets no more clicks wait than a batch has at most', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { batchMax: 7_000 })
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 2_500)
    assert.deepEqual(batches, [200])
    await pass(STEP_MS, 2_500)
    assert.deepEqual(batches, [200, 5_000])
  })

  test('counts earlier when storing takes long', async (t) => {
    const { batches, wake, pass } = startDrainer(t, { storingMs: 100 })
    wake()
    await pass(FIRST_MS, 200)
    await pass(STEP_MS, 3_000)
    assert.deepEqual(batches, [200, 3_000])
  })
})
