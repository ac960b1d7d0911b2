import assert from 'node:assert/strict'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { getPriority } from 'node:os'
import path from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { openStore } from '../../src/app/database/open-store.ts'
import type { FullStore } from '../../src/app/database/stores.ts'
import { type ClickIntake, startClickIntake } from '../../src/clicks/ingest/click-intake.ts'
import {
  createJournal,
  journalsRoot,
  listJournals,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { drainWorkers } from '../support/drain-worker.ts'
import { createFolder, ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { clickOf, clicksFrom } from './some-clicks.ts'
import { createTestLink, type TestLink } from './test-link.ts'

const clock = systemClock()
/** Retention of drained journals, in the tests that are about it. */
const KEPT_MS = 500
const SOON_MS = 10_000
/** Databases that do not exist. */
const NOWHERE = {
  SQLite: { dataDir: '/nowhere' },
  PostgreSQL: { databaseUrl: 'postgres://nobody@127.0.0.1:1/nothing' },
}

/**
 * The nice value of every thread of this process (proc_pid_stat(5), field 19; the second field may
 * contain spaces).
 */
function nicenessOfThreads(): number[] {
  const tasks = '/proc/self/task'
  return readdirSync(tasks).map((task) => {
    const stat = readFileSync(path.join(tasks, task, 'stat'), 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19 - 3])
  })
}

for (const engine of ENGINES) {
  describe(`click intake on ${engine.title}`, () => {
    let place: Place
    let store: FullStore
    let link: TestLink
    /** A new data folder for each test, over one shared database. */
    let dataDir: string
    let root: string
    let errors: unknown[]
    let takenIn: string[]
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
      takenIn = []
      running = []
    })
    afterEach(async () => {
      // An intake left open by a failed test would keep the process from ending.
      for (const intake of running) await intake.stop()
    })

    /** @param options.over the database that the drain thread opens */
    function start(
      options: {
        over?: Pick<Place, 'databaseUrl' | 'dataDir'>
        keepMs?: number
        dataDir?: string
        onIngested?: (id: string) => Promise<void>
      } = {},
    ): ClickIntake {
      const { keepMs = 0 } = options
      const intake = startClickIntake({
        dataDir: options.dataDir ?? dataDir,
        keepMs,
        startWorker: drainWorkers(options.over ?? place, keepMs),
        durability: 'process',
        onLost: (_count, error) => errors.push(error),
        onDoubt: (_count, error) => errors.push(error),
        onDamage: ({ bytes }) => errors.push(`${bytes} damaged bytes`),
        onError: (error) => errors.push(error),
        async onIngested(id) {
          await options.onIngested?.(id)
          takenIn.push(id)
        },
      })
      running.push(intake)
      intake.startDraining()
      return intake
    }

    const record = (intake: ClickIntake, at: number) =>
      new Promise<void>((resolve) => intake.record(clickOf(at, link.seq), () => resolve()))

    async function expectClicks(clicks: number): Promise<void> {
      assert.equal((await link.counters()).clicks, clicks)
    }

    /** Creates a journal with clicks whose owner process has ended. */
    function leaveJournal(first: number, count: number): string {
      const journal = createJournal(root)
      writeFileSync(segmentFile(journal.folder, 1), encodeFrame(clicksFrom(first, count, link.seq)))
      journal.release()
      return journal.id
    }

    test('removes what a killed process was about to remove or to create', async () => {
      const leftovers = ['removing', 'beginning'].map((what) => path.join(root, `some.${what}`))
      for (const leftover of leftovers) mkdirSync(leftover, { recursive: true })
      const intake = start()
      for (const leftover of leftovers) assert.ok(!existsSync(leftover))
      await intake.stop()
    })

    test('counts a click soon', async () => {
      const intake = start()
      // The drain thread has started once it has counted the first click.
      await record(intake, 1_000)
      await eventually(() => expectClicks(1))
      await record(intake, 2_000)
      // Within a second on a quiet machine; the thread has a low priority.
      await eventually(() => expectClicks(2), SOON_MS)
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('counts in a thread with lower priority than the one that serves visitors', {
      skip: process.platform !== 'linux' && 'niceness is a thread’s own on Linux alone',
    }, async () => {
      const intake = start()
      await eventually(async () => assert.ok(nicenessOfThreads().some((it) => it > getPriority(0))))
      await intake.stop()
      await eventually(async () =>
        assert.ok(nicenessOfThreads().every((it) => it === getPriority(0))),
      )
    })

    test('counts waiting clicks before it stops, and leaves an empty journal for the next start', async () => {
      const intake = start()
      for (const click of clicksFrom(1_000, 20, link.seq)) intake.record(click, () => {})
      assert.deepEqual(await intake.stop(), { bytes: 0, oldestMicros: undefined })
      await expectClicks(20)
      assert.deepEqual(listJournals(root), [intake.journalId])

      const next = start()
      await eventually(async () => assert.deepEqual(listJournals(root), [next.journalId]))
      await next.stop()
      assert.deepEqual(takenIn, [intake.journalId])
    })

    test('counts the clicks of killed processes, and removes their journals', async () => {
      const left = [1_000, 2_000, 3_000].map((first) => leaveJournal(first, 5))
      const intake = start()
      await eventually(async () => {
        await expectClicks(15)
        assert.deepEqual(listJournals(root), [intake.journalId])
      })
      await intake.stop()
      assert.deepEqual(takenIn.toSorted(), left.toSorted())
      assert.deepEqual(errors, [])
    })

    test('reports the clicks that wait in adopted journals', async () => {
      const id = leaveJournal(1_000, 5)
      const intake = start({ over: { ...place, ...NOWHERE[engine.name] } })
      const { size } = statSync(segmentFile(path.join(root, id), 1))
      assert.deepEqual(intake.held(), [
        { id: intake.journalId, bytes: 0, oldestMicros: undefined },
        { id, bytes: size, oldestMicros: 1_000 },
      ])
      await intake.stop()
    })

    test('retains counted clicks for the configured time, and then deletes them', async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      leaveJournal(1_000, 5)
      leaveJournal(2_000, 5)
      const startedMs = performance.now()
      const intake = start({ keepMs: KEPT_MS })
      const allTakenIn = () => eventually(async () => assert.equal(intake.held().length, 1))
      await eventually(() => expectClicks(10))
      await allTakenIn()
      const areKept = listJournals(root).length === 3
      assert.ok(areKept || performance.now() - startedMs > KEPT_MS, 'deleted too early')
      const keptUntilMs = performance.now() + KEPT_MS
      t.mock.timers.tick(30_000)
      const isEarly = intake.held().length > 1
      assert.ok(!isEarly || performance.now() - startedMs > KEPT_MS, 'too early')
      await eventually(async () => assert.ok(performance.now() > keptUntilMs))
      t.mock.timers.tick(30_000)
      await allTakenIn()
      assert.deepEqual(listJournals(root), [intake.journalId])
      await expectClicks(10)
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('leaves a journal in place for the next start when the store rejects it', async () => {
      leaveJournal(1_000, 5)
      leaveJournal(2_000, 5)
      const intake = start({ over: { ...place, ...NOWHERE[engine.name] } })
      await record(intake, 3_000)
      await intake.stop()
      await expectClicks(0)
      assert.equal(listJournals(root).length, 3)
      assert.ok(errors.length > 0)

      start().stop()
      await eventually(() => expectClicks(11))
    })

    test('continues, and logs the error, when it cannot search for journals of killed processes', async (t) => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const intake = start()
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
      assert.equal(errors.length, 2, 'of the search, and of its own journal')
      await intake.stop()
      assert.deepEqual(listJournals(root), [intake.journalId], 'its own is locked again')
    })

    /** What may happen to the journals of a running process. */
    const MISHAPS: readonly (readonly [name: string, cause: (journal: string) => void])[] = [
      ['all journals are removed', () => rmSync(root, { recursive: true })],
      ['its journal is removed', (journal) => rmSync(journal, { recursive: true })],
      ['its segment is removed', (journal) => rmSync(segmentFile(journal, 1))],
      ['all journals are moved away', () => renameSync(root, `${root}.away`)],
      [
        'its journal is replaced by an older copy',
        (journal) => {
          const file = segmentFile(journal, 1)
          const bytes = readFileSync(file).subarray(0, -1)
          rmSync(journal, { recursive: true })
          mkdirSync(journal)
          writeFileSync(file, bytes)
        },
      ],
    ]
    for (const [name, cause] of MISHAPS) {
      test(`counts each click once when ${name}`, async () => {
        const intake = start()
        await record(intake, 1_000)
        await eventually(() => expectClicks(1))
        await record(intake, 2_000)
        const journal = path.join(root, intake.journalId)
        cause(journal)
        await record(intake, 3_000)
        await eventually(async () => assert.ok(existsSync(journal)))
        await record(intake, 4_000)
        await eventually(() => expectClicks(4))
        await intake.stop()
        await expectClicks(4)
        assert.deepEqual(errors, [])
        const next = start()
        await eventually(async () => assert.deepEqual(listJournals(root), [next.journalId]))
        await next.stop()
        await expectClicks(4)
      })
    }

    test('saves the clicks of a journal that is removed just before it stops', async () => {
      const intake = start({ over: { ...place, ...NOWHERE[engine.name] } })
      await record(intake, 1_000)
      rmSync(root, { recursive: true })
      await intake.stop()
      start().stop()
      await eventually(() => expectClicks(1))
    })

    test('adopts orphaned journals a few at a time until none is left', async () => {
      const first = Array.from({ length: 70 }, (_, index) => leaveJournal(1_000 + index, 1))
      const away = start({ over: { ...place, ...NOWHERE[engine.name] } })
      assert.equal(away.held().length, 1 + 64)
      await away.stop()
      const intake = start()
      await eventually(async () => {
        assert.deepEqual(takenIn.toSorted(), [...first, away.journalId].toSorted())
      })
      await expectClicks(70)
      await eventually(async () => assert.deepEqual(listJournals(root), [intake.journalId]))
      await intake.stop()
    })

    test('retains no empty journal, however long the retention', async () => {
      createJournal(root).release()
      const intake = start({ keepMs: 60_000 })
      await eventually(async () => assert.deepEqual(listJournals(root), [intake.journalId]))
      await intake.stop()
      assert.deepEqual(errors, [])
    })

    test('removes a drained journal only after `onIngested` has succeeded', async () => {
      const left = leaveJournal(1_000, 5)
      const failure = new Error('the callback fails')
      const intake = start({ onIngested: () => Promise.reject(failure) })
      await eventually(async () => assert.deepEqual(errors, [failure]))
      assert.deepEqual(listJournals(root), [left, intake.journalId].toSorted())
      await intake.stop()
      const next = start()
      await eventually(async () => assert.deepEqual(listJournals(root), [next.journalId]))
      await next.stop()
      await expectClicks(5)
    })

    test('counts the rest of a journal of which a copy held only the first half', async (t) => {
      const id = leaveJournal(1_000, 5)
      const file = segmentFile(path.join(root, id), 1)
      const copy = createFolder()
      t.after(() => rmSync(copy, { recursive: true }))
      cpSync(dataDir, copy, { recursive: true })
      const torn = segmentFile(path.join(journalsRoot(copy), id), 1)
      appendFileSync(file, encodeFrame(clicksFrom(2_000, 5, link.seq)))
      writeFileSync(torn, readFileSync(file).subarray(0, statSync(file).size - 7))
      await start({ dataDir: copy }).stop()
      await expectClicks(5)
      assert.match(String(errors), /^\d+ damaged bytes$/)
      await start().stop()
      await expectClicks(10)
    })

    test('counts the clicks that copies of one folder add, and those from before the copy once', async (t) => {
      leaveJournal(1_000, 5)
      const copy = createFolder()
      t.after(() => rmSync(copy, { recursive: true }))
      cpSync(dataDir, copy, { recursive: true })
      const both = [start(), start({ dataDir: copy })]
      for (const [index, intake] of both.entries()) await record(intake, 2_000 + index)
      for (const intake of both) await intake.stop()
      await expectClicks(7)
      assert.deepEqual(errors, [])
    })

    test('counts the clicks around a torn tail that a killed process left, and appends nothing to that segment', async () => {
      const id = leaveJournal(1_000, 5)
      const torn = encodeFrame(clicksFrom(2_000, 2, link.seq)).subarray(0, 17)
      appendFileSync(segmentFile(path.join(root, id), 1), torn)
      const intake = start()
      await record(intake, 3_000)
      await intake.stop()
      assert.equal(intake.counts.lost, 1, 'about as many as the bytes of the tail')
      await expectClicks(6)
      assert.equal(existsSync(segmentFile(path.join(root, id), 1)), false)
    })
  })
}
