import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { afterEach, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { type ClickIntake, startClickIntake } from '../../src/clicks/ingest/click-intake.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { clickOf } from '../clicks/some-clicks.ts'
import { createTestLink, type TestLink } from '../clicks/test-link.ts'
import { drainWorkers } from '../support/drain-worker.ts'
import { createFolder } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { SEED } from '../support/random.ts'
import { describeStore } from '../support/store.ts'
import { FailingFiles } from './failing-files.ts'

const clock = systemClock()

describeStore('a click journal on a failing disk', (at) => {
  let dataDir: string
  let files: FailingFiles
  let link: TestLink
  let reports: string[]
  beforeEach(async () => {
    dataDir = createFolder()
    files = new FailingFiles()
    link = await createTestLink(at.store, clock)
    reports = []
  })
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

  async function start(durability: 'process' | 'disk'): Promise<ClickIntake> {
    const intake = startClickIntake({
      keepMs: 0,
      dataDir,
      startWorker: drainWorkers(at.place),
      durability,
      files,
      onLost: (count) => reports.push(`${count} lost`),
      onDoubt: (count) => reports.push(`${count} in doubt`),
      onDamage: ({ bytes }) => reports.push(`${bytes} bytes of damage`),
      onIngested: () => {},
      onError: (error) => assert.fail(String(error)),
    })
    intake.startDraining()
    return intake
  }

  /** Settles when all of so many concurrent visits have been answered. */
  async function visit(intake: ClickIntake, count: number): Promise<void> {
    await Promise.all(
      Array.from(
        { length: count },
        () => new Promise<void>((done) => intake.record(clickOf(1_000, link.seq), () => done())),
      ),
    )
  }

  async function expectClicks(clicks: number): Promise<void> {
    await eventually(async () => assert.equal((await link.counters()).clicks, clicks))
  }

  test('answers every visit during failed syncs, reports how many clicks are in doubt, and counts them', async () => {
    const intake = await start('disk')
    await visit(intake, 3)
    files.syncsFail = true
    await visit(intake, 5)
    await visit(intake, 2)
    assert.equal(intake.counts.doubtful, 7)
    files.syncsFail = false
    await visit(intake, 4)
    assert.equal(intake.counts.doubtful, 7)
    assert.equal(intake.counts.lost, 0)
    await expectClicks(14)
    await intake.stop()
    await expectClicks(14)
    assert.deepEqual(reports, ['5 in doubt', '2 in doubt'])
  })

  for (const durability of ['process', 'disk'] as const) {
    test(`counts or reports each visit however little space is left, with durability ${durability}`, async () => {
      const room = fc.oneof(fc.nat({ max: 400 }), fc.constant(Number.POSITIVE_INFINITY))
      const turn = fc.record({ room, visits: fc.integer({ min: 1, max: 6 }) })
      const turns = fc.sample(turn, { numRuns: 60, seed: SEED })
      const intake = await start(durability)
      let visits = 0
      for (const { room: roomBytes, visits: count } of turns) {
        files.roomBytes = roomBytes
        await visit(intake, count)
        visits += count
      }
      assert.ok(
        intake.counts.lost > 0 && intake.counts.lost < visits,
        `${intake.counts.lost} of ${visits} lost`,
      )
      await expectClicks(visits - intake.counts.lost)
      await intake.stop()
      await expectClicks(visits - intake.counts.lost)
      assert.ok(
        reports.every((report) => report.endsWith(' lost')),
        reports.join(),
      )
    })
  }
})
