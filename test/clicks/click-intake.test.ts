import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { type ClickIntake, startClickIntake } from '../../src/clicks/click-intake.ts'
import { encodeFrame } from '../../src/clicks/journal/frame.ts'
import {
  createJournal,
  journalsRoot,
  listJournals,
} from '../../src/clicks/journal/journal-folder.ts'
import { segmentFile } from '../../src/clicks/journal/segments.ts'
import type { Store } from '../../src/domain/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { openStore } from '../../src/storage/open-store.ts'
import { openWriterAt } from '../support/click-writers.ts'
import { drainWorkers } from '../support/drain-worker.ts'
import { createFolder, ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { clickOf, clicksFrom } from './some-clicks.ts'
import { createTestLink, type TestLink } from './test-link.ts'

const clock = systemClock()
/** Databases that are not there. */
const NOWHERE = {
  SQLite: { dataDir: '/nowhere' },
  PostgreSQL: { databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' },
}

for (const engine of ENGINES) {
  describe(`the intake of clicks on ${engine.name}`, () => {
    let place: Place
    let store: Store
    let link: TestLink
    /** A folder of its own for each test, over one database. */
    let dataDir: string
    let root: string
    let errors: unknown[]
    let running: ClickIntake[]
    before(async () => {
      place = await engine.createPlace()
      const opened = await openStore({
        databaseUrl: place.databaseUrl,
        dataDir: place.dataDir,
        clock,
        onError: () => {},
      })
      store = opened.store
    })
    after(async () => {
      await store.close()
      await place.remove()
    })
    beforeEach(async () => {
      dataDir = createFolder()
      root = journalsRoot(dataDir)
      link = await createTestLink(store, clock)
      errors = []
      running = []
    })
    afterEach(async () => {
      // One that a failed test leaves behind would keep the process from ending.
      for (const intake of running) await intake.stop()
    })

    /** @param over where the thread is to find the database */
    async function start(
      over: Pick<Place, 'databaseUrl' | 'dataDir'> = place,
      keepMs = 0,
    ): Promise<ClickIntake> {
      const started = await startClickIntake({
        dataDir,
        keepMs,
        store,
        startWorker: drainWorkers(over),
        durability: 'process',
        onLost: (_count, error) => errors.push(error),
        onDoubt: (_count, error) => errors.push(error),
        onDamage: (bytes) => errors.push(`${bytes} damaged bytes`),
        onError: (error) => errors.push(error),
      })
      let stopped: ReturnType<ClickIntake['stop']> | undefined
      const intake = {
        ...started,
        stop() {
          stopped ??= started.stop()
          return stopped
        },
      }
      running.push(intake)
      intake.startDraining()
      return intake
    }

    const record = (intake: ClickIntake, at: number) =>
      new Promise<void>((resolve) => intake.record(clickOf(at, link.seq), resolve))

    async function expectClicks(clicks: number): Promise<void> {
      assert.equal((await link.counters()).clicks, clicks)
    }

    /** A journal with clicks in it whose owner has gone. */
    function leaveJournal(first: number, count: number): string {
      const journal = createJournal(root)
      writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicksFrom(first, count, link.seq)))
      journal.release()
      return journal.id
    }

    test('finishes the removal of a journal that a killed process had begun', async () => {
      const leftover = `${createJournal(root).folder}.removing`
      mkdirSync(leftover)
      const intake = await start()
      assert.ok(!existsSync(leftover))
      await intake.stop()
    })

    test('counts a click within a second', async () => {
      const intake = await start()
      // The thread has started when it has counted the first one.
      await record(intake, 1_000)
      await eventually(() => expectClicks(1))
      await record(intake, 2_000)
      await eventually(() => expectClicks(2), 1_000)
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('counts what is waiting before it stops, and leaves an empty journal for the next', async () => {
      const intake = await start()
      for (const click of clicksFrom(1_000, 20, link.seq)) intake.record(click, () => {})
      await intake.stop()
      await expectClicks(20)
      const journals = listJournals(root)
      assert.equal(journals.length, 1)

      const next = await start()
      await record(next, 2_000)
      await next.stop()
      await expectClicks(21)
      assert.deepEqual(listJournals(root), journals)
      assert.equal(next.lost(), 0)
    })

    test('counts what killed processes left, and removes their journals but one', async () => {
      for (const first of [1_000, 2_000, 3_000]) leaveJournal(first, 5)
      const intake = await start()
      await eventually(async () => {
        await expectClicks(15)
        assert.equal(listJournals(root).length, 1)
      })
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('keeps what it has counted for a while where it is told to, and then removes it', async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      leaveJournal(1_000, 5)
      leaveJournal(2_000, 5)
      const intake = await start(place, 1)
      const takenIn = () => eventually(async () => assert.equal(intake.orphans(), 0))
      await eventually(() => expectClicks(10))
      await takenIn()
      assert.equal(listJournals(root).length, 2)
      t.mock.timers.tick(30_000)
      await takenIn()
      assert.equal(listJournals(root).length, 1)
      await expectClicks(10)
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('leaves a journal that the store does not take in where it is, for the next start', async () => {
      leaveJournal(1_000, 5)
      leaveJournal(2_000, 5)
      const intake = await start({ ...place, ...NOWHERE[engine.name] })
      await record(intake, 3_000)
      await intake.stop()
      await expectClicks(0)
      assert.equal(listJournals(root).length, 2)
      assert.ok(errors.length > 0)

      await (await start()).stop()
      await eventually(() => expectClicks(11))
    })

    test('goes on, and says so, when it cannot look for what killed processes left', async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const intake = await start()
      t.after(() => intake.stop())
      renameSync(root, `${root}.away`)
      writeFileSync(root, 'no folder')
      t.mock.timers.tick(30_000)
      assert.match(String(errors), /ENOTDIR/)

      rmSync(root)
      renameSync(`${root}.away`, root)
      leaveJournal(1_000, 5)
      t.mock.timers.tick(30_000)
      await eventually(() => expectClicks(5))
      assert.equal(errors.length, 1)
    })

    test('writes after what counts as read, where the folder is older than the database', async () => {
      const id = leaveJournal(1_000, 5)
      const writer = openWriterAt(place)
      const to = { segment: 7, offset: 48 }
      await writer.take({ journalId: id, from: undefined, to, clicks: [], atMicros: 1 })
      await writer.close()
      const intake = await start()
      await record(intake, 2_000)
      await intake.stop()
      await expectClicks(1)
      assert.equal((await store.read.clicks.findPosition(id))?.segment, 8)
    })

    test('counts around the torn tail that a killed process left, and appends nothing to it', async () => {
      const id = leaveJournal(1_000, 5)
      const torn = encodeFrame(clicksFrom(2_000, 2, link.seq)).subarray(0, 17)
      appendFileSync(segmentFile(path.join(root, id), 1), torn)
      const intake = await start()
      await record(intake, 3_000)
      await intake.stop()
      await expectClicks(6)
      assert.equal(existsSync(segmentFile(path.join(root, id), 1)), false)
    })
  })
}
