import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { startClickIntake } from '../../src/clicks/ingest/click-intake.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { clickOf } from '../clicks/some-clicks.ts'
import { createTestLink } from '../clicks/test-link.ts'
import { drainWorkers } from '../support/drain-worker.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { SEED } from '../support/random.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { describeStore } from '../support/store.ts'

const CRASHES = 4
const CLICKS_PER_TURN = 50
/** Clicks arrive over the whole life of a thread, some thousands before each crash. */
const TURN_PAUSE_MS = 5
/** The latest moment of a crash: by then the thread has started and drained. */
const CRASH_AFTER_MS_MAX = 600

describeStore('a drain thread that crashes', (at) => {
  test('restarts after a crash, logs it, and counts each click once', async (t) => {
    const dataDir = createFolder()
    t.after(() => rmSync(dataDir, { recursive: true, force: true }))
    const link = await createTestLink(at.store, systemClock())
    const startWorker = drainWorkers(at.place)
    const workers: Worker[] = []
    const errors: unknown[] = []
    const unwanted = (what: unknown) => assert.fail(String(what))
    const intake = startClickIntake({
      keepMs: 0,
      dataDir,
      startWorker(...place) {
        const worker = startWorker(...place)
        workers.push(worker)
        return worker
      },
      durability: 'process',
      onLost: unwanted,
      onDoubt: unwanted,
      onDamage: unwanted,
      onIngested: () => {},
      onError: (error) => errors.push(error),
    })
    intake.startDraining()

    let answered = 0
    const record = () =>
      new Promise<void>((done) => intake.record(clickOf(1_000 + answered, link.seq), () => done()))
    const moments = fc.sample(fc.noBias(fc.nat({ max: CRASH_AFTER_MS_MAX })), {
      numRuns: CRASHES,
      seed: SEED,
    })
    for (const [index, moment] of moments.entries()) {
      const crashAt = performance.now() + moment
      while (performance.now() < crashAt) {
        await Promise.all(Array.from({ length: CLICKS_PER_TURN }, record))
        answered += CLICKS_PER_TURN
        await sleep(TURN_PAUSE_MS)
      }
      await workers[index]?.terminate()
      await eventually(async () => assert.equal(workers.length, index + 2))
    }
    await eventually(async () => assert.equal((await link.counters()).clicks, answered))
    assert.equal(errors.length, CRASHES)
    await intake.stop()
    assert.equal((await link.counters()).clicks, answered)
    assert.equal((await rawClicksOf(at.store, link.scope)).length, answered)
    assert.equal(workers.length, CRASHES + 1)
  })
})
