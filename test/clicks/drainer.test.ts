import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { openStore } from '../../src/app/database/open-store.ts'
import type { FullStore } from '../../src/app/database/stores.ts'
import { CLICK_FLAGS, type Click } from '../../src/clicks/click.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { DrainProgress, type JournalDamage } from '../../src/clicks/ingest/drain-messages.ts'
import { Drainer } from '../../src/clicks/ingest/drainer.ts'
import {
  createJournal,
  damagedJournalsFolder,
  type JournalFolder,
  journalsRoot,
  listSegments,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { backlogBytes } from '../../src/clicks/journal/journal-reader.ts'
import { Failure } from '../../src/platform/failure.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { openWriterAt, overrideWriter } from '../support/click-writers.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { cases } from '../support/properties.ts'
import { rawClicksOf } from '../support/raw-clicks.ts'
import { failStatements, WantedFault } from '../support/statement-faults.ts'
import { clickOf, clicksFrom } from './some-clicks.ts'
import { createTestLink, type TestLink } from './test-link.ts'

const ALL_COMPLETE = () => Number.POSITIVE_INFINITY
const clock = systemClock()

for (const engine of ENGINES) {
  describe(`the drainer on ${engine.title}`, () => {
    let place: Place
    let store: FullStore
    let writer: ClickWriter
    let journal: JournalFolder
    let link: TestLink
    let errors: unknown[]
    let damages: JournalDamage[]
    before(async () => {
      place = await engine.createPlace()
      const opened = await openStore({
        databaseUrl: place.databaseUrl,
        dataDir: place.dataDir,
        clock,
        onError: () => {},
      })
      store = opened.store
      writer = await openWriterAt(place)
    })
    after(async () => {
      await writer.close()
      await store.close()
      await place.remove()
    })
    beforeEach(async () => {
      journal = createJournal(journalsRoot(place.dataDir))
      link = await createTestLink(store, clock)
      errors = []
      damages = []
    })
    afterEach(() => journal.remove())

    function append(segment: number, ...parts: (Buffer | readonly Click[])[]): void {
      for (const part of parts) {
        const bytes = Buffer.isBuffer(part) ? part : encodeFrame(part as readonly Click[])
        appendFileSync(segmentFile(journal.folder, segment), bytes)
      }
    }

    function createDrainer(
      options: { writer?: ClickWriter; activeSegment?: () => number } = {},
    ): Drainer {
      return new Drainer({
        keepMs: 0,
        writer,
        clock,
        journal,
        activeSegment: ALL_COMPLETE,
        progress: new DrainProgress(),
        onError: (error) => errors.push(error),
        onDamage: (damage) => damages.push(damage),
        ...options,
      })
    }

    /** Drains repeatedly, as the service does, until no error and no load stands in the way. */
    async function drainAtLast(drainer: Drainer): Promise<number> {
      for (let failures = 0; ; failures += 1) {
        try {
          await drainer.drain()
          return failures
        } catch (error) {
          const cause = error instanceof Failure ? error.cause : error
          if (!(cause instanceof WantedFault)) throw error
        }
      }
    }

    async function expectCounted(clicks: number, lastAt: number | null): Promise<void> {
      assert.deepEqual(await link.counters(), { clicks, last_click: lastAt })
      const raw = await rawClicksOf(store, link.scope)
      assert.equal(raw.filter(({ flags }) => flags === 0).length, clicks)
    }

    test('stores clicks, counters and position in one transaction, and continues from there', async () => {
      append(1, clicksFrom(1_000, 3, link.seq), clicksFrom(2_000, 2, link.seq))
      const drainer = createDrainer()
      await drainer.drain()
      await expectCounted(5, 2_001)
      assert.deepEqual(listSegments(journal.folder), [])

      append(2, clicksFrom(3_000, 1, link.seq))
      await drainer.drain()
      await expectCounted(6, 3_000)
    })

    test('stores no click twice when another drainer reads the journal again', async () => {
      append(1, clicksFrom(1_000, 3, link.seq))
      const activeSegment = () => 1
      await createDrainer({ activeSegment }).drain()
      await createDrainer({ activeSegment }).drain()
      append(1, clicksFrom(2_000, 2, link.seq))
      await createDrainer({ activeSegment }).drain()
      await expectCounted(5, 2_001)
      assert.deepEqual(listSegments(journal.folder), [1])
    })

    test('continues in a journal of the formats before, which was drained up to its middle', async () => {
      const before = [clicksFrom(1_000, 3, link.seq), clicksFrom(2_000, 2, link.seq)] as const
      const ruled = { ...clickOf(3_000, link.seq), rule: 'ab', variant: 'größer' }
      append(1, before[0])
      const activeSegment = () => 1
      await createDrainer({ activeSegment }).drain()
      const labelled = { ...clickOf(3_002, link.seq), label: 'Größe' }
      const placed = { ...clickOf(3_003, link.seq), city: 'Zürich' }
      append(1, before[1], [ruled, clickOf(3_001, link.seq)], [labelled], [placed])
      const frames = readFileSync(segmentFile(journal.folder, 1)).toString('latin1')
      assert.deepEqual(frames.match(/TRS./g), ['TRS3', 'TRS3', 'TRS4', 'TRS5', 'TRS6'])
      const stops = overrideWriter(writer, {
        async write(batch) {
          await writer.write(batch)
          throw new WantedFault()
        },
      })
      await assert.rejects(createDrainer({ activeSegment, writer: stops }).drain())
      await createDrainer({ activeSegment }).drain()
      await expectCounted(9, 3_003)
      assert.deepEqual(damages, [])
      const options = { dimension: 'variant', slots: false } as const
      const [day] = await store.read.reports.readDays(link.scope, 0, 0, options)
      const persons = [...(day?.values ?? [])].map(([value, counts]) => [value, counts.persons])
      assert.deepEqual(Object.fromEntries(persons), { '': 8, größer: 1 })
      const raw = await rawClicksOf(store, link.scope)
      assert.deepEqual(
        raw
          .map(({ rule, variant, label, city }) => rule + variant + label + city)
          .filter((text) => text !== ''),
        ['abgrößer', 'Größe', 'Zürich'],
      )
    })

    test('counts people only, and stores other visits with their flags', async () => {
      const robots = clicksFrom(9_000, 2, link.seq).map((click) => ({
        ...click,
        flags: CLICK_FLAGS.bot,
      }))
      const heads = [{ ...clickOf(9_500, link.seq), flags: CLICK_FLAGS.head | CLICK_FLAGS.bot }]
      append(1, [...clicksFrom(1_000, 4, link.seq), ...robots, ...heads])
      await createDrainer().drain()
      assert.deepEqual(await link.counters(), { clicks: 4, last_click: 1_003 })
      const raw = await rawClicksOf(store, link.scope)
      assert.deepEqual(
        raw.map(({ flags }) => flags).sort((a, b) => a - b),
        [0, 0, 0, 0, CLICK_FLAGS.bot, CLICK_FLAGS.bot, CLICK_FLAGS.bot | CLICK_FLAGS.head],
      )
    })

    test('never moves the last click back', async () => {
      append(1, [clickOf(5_000, link.seq)])
      append(2, [clickOf(4_000, link.seq)])
      const drainer = createDrainer()
      await drainer.drain()
      append(3, [clickOf(3_000, link.seq)])
      await drainer.drain()
      await expectCounted(3, 5_000)
    })

    test('is not blocked by the clicks of a link that was deleted', async () => {
      append(1, [clickOf(1_000, link.seq), clickOf(1_001, link.seq + 1_000_000)])
      await createDrainer().drain()
      await expectCounted(1, 1_000)
    })

    test('counts each click once when two drainers read the same journal at the same time', async () => {
      for (let segment = 1; segment <= 20; segment += 1) {
        append(segment, clicksFrom(segment * 1_000, 50, link.seq))
      }
      const drainers = [createDrainer(), createDrainer(), createDrainer()]
      await Promise.all(drainers.map((drainer) => drainer.drain()))
      await expectCounted(1_000, 20_049)
      assert.deepEqual(errors, [])
    })

    /** Drains with a new writer, as a process does that is started after a crash. */
    async function drainWithFaults(failsAt: (step: number) => boolean) {
      const faults = failStatements(failsAt)
      try {
        const failures = await drainAtLast(createDrainer())
        return { failures, steps: faults.steps() }
      } finally {
        faults.mend()
      }
    }

    async function startAnew(): Promise<void> {
      journal.remove()
      journal = createJournal(journalsRoot(place.dataDir))
      link = await createTestLink(store, clock)
    }

    test('counts each click once when any one statement fails, before or after it has run', async () => {
      const journalled = () => {
        append(1, clicksFrom(1_000, 3, link.seq))
        append(2, clicksFrom(2_000, 2, link.seq))
      }
      journalled()
      const { steps } = await drainWithFaults(() => false)
      assert.ok(steps > 20, `${steps} steps`)
      await expectCounted(5, 2_001)

      for (let failing = 1; failing <= steps; failing += 1) {
        await startAnew()
        journalled()
        await drainWithFaults((step) => step === failing)
        await expectCounted(5, 2_001)
        const position = await store.read.clicks.findPosition(journal.id)
        assert.equal(backlogBytes(journal.folder, position), 0, `step ${failing}`)
      }
    })

    test('counts each click once when several statements fail', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(fc.integer({ min: 1, max: 80 })), async (failing) => {
          await startAnew()
          for (let segment = 1; segment <= 3; segment += 1) {
            append(segment, clicksFrom(segment * 1_000, segment, link.seq))
          }
          await drainWithFaults((step) => failing.includes(step))
          await expectCounted(6, 3_002)
        }),
        cases(25),
      )
    })

    test('retries, reports only the first failure, and ends on request', async () => {
      append(1, clicksFrom(1_000, 3, link.seq))
      let calls = 0
      const faulty = overrideWriter(writer, {
        write(batch) {
          calls += 1
          if (calls <= 2) throw new WantedFault(`call ${calls}`)
          return writer.write(batch)
        },
      })
      const drainer = createDrainer({ writer: faulty })
      drainer.wake()
      drainer.wake()
      await eventually(() => expectCounted(3, 1_002))
      assert.deepEqual(
        errors.map((error) => (error as Error).message),
        ['call 1'],
      )
      await drainer.stop()

      append(2, clicksFrom(2_000, 1, link.seq))
      drainer.wake()
      await expectCounted(3, 1_002)
      await drainer.drain()
      await expectCounted(4, 2_000)
    })

    test('lets clicks gather after a batch under load, and stores them without another request', async () => {
      append(1, clicksFrom(1_000, 200, link.seq))
      const begunMs: number[] = []
      const watched = overrideWriter(writer, {
        write(batch) {
          begunMs.push(performance.now())
          if (begunMs.length === 1) append(1, clicksFrom(2_000, 1, link.seq))
          return writer.write(batch)
        },
      })
      const drainer = createDrainer({ writer: watched, activeSegment: () => 1 })
      drainer.wake()
      await eventually(() => expectCounted(201, 2_000))
      await drainer.stop()
      const [first = 0, second = 0] = begunMs
      assert.equal(begunMs.length, 2)
      assert.ok(second - first > 350, `the second batch began after ${second - first} ms`)
    })

    test('sets damaged bytes aside, reports them once, and counts all clicks around them', async () => {
      const junk = Buffer.from('what a dying disk wrote')
      append(1, clicksFrom(1_000, 3, link.seq), junk, clicksFrom(2_000, 2, link.seq))
      append(2, clicksFrom(3_000, 1, link.seq))
      const original = readFileSync(segmentFile(journal.folder, 1))

      await createDrainer().drain()

      await expectCounted(6, 3_000)
      assert.deepEqual(
        damages.map(({ bytes }) => bytes),
        [junk.length],
      )
      assert.deepEqual(readFileSync(damages[0]?.copy ?? ''), original)
      assert.deepEqual(listSegments(journal.folder), [])
    })

    test('reports the segments that are missing before others, with the clicks that they may have had', async () => {
      append(1, clicksFrom(1_000, 3, link.seq))
      append(4, clicksFrom(2_000, 2, link.seq))
      append(5, clicksFrom(3_000, 1, link.seq))
      await createDrainer().drain()
      await expectCounted(6, 3_000)
      const [{ clicks = 0, ...missing } = {}, ...more] = damages
      assert.deepEqual(missing, {
        journal: journal.id,
        bytes: 0,
        missingSegments: 2,
        copy: undefined,
      })
      assert.deepEqual(more, [])
      const bytesPerClick = encodeFrame(clicksFrom(2_000, 2, link.seq)).length / 2
      assert.equal(clicks, 2 * Math.ceil((16 * 1024 * 1024) / bytesPerClick))
    })

    test('reports no segment as missing that was counted and removed', async () => {
      for (const segment of [1, 2, 3]) {
        append(segment, clicksFrom(segment * 1_000, 2, link.seq))
        await createDrainer().drain()
        assert.deepEqual(listSegments(journal.folder), [])
      }
      assert.deepEqual(damages, [])
    })

    test('reports damage once, even if the store fails while the damage is being skipped', async () => {
      append(1, clicksFrom(1_000, 1, link.seq), Buffer.from('junk'), clicksFrom(2_000, 1, link.seq))
      await drainWithFaults((step) => step >= 5 && step <= 7)
      await expectCounted(2, 2_000)
      assert.equal(damages.length, 1)
    })

    test('counts the intact clicks even when the damaged bytes cannot be set aside', async () => {
      const kept = damagedJournalsFolder(place.dataDir)
      rmSync(kept, { recursive: true, force: true })
      writeFileSync(kept, 'a file where the folder should be')
      try {
        append(1, Buffer.from('junk'), clicksFrom(1_000, 2, link.seq))
        await createDrainer().drain()
        await expectCounted(2, 1_001)
        assert.equal(damages.length, 1)
      } finally {
        rmSync(kept)
      }
    })

    test('does not read the tail of the segment that is being written', async () => {
      const next = encodeFrame(clicksFrom(2_000, 2, link.seq))
      append(1, clicksFrom(1_000, 2, link.seq), next.subarray(0, 20))
      const drainer = createDrainer({ activeSegment: () => 1 })
      await drainer.drain()
      await expectCounted(2, 1_001)
      assert.deepEqual(damages, [])
      assert.ok(existsSync(segmentFile(journal.folder, 1)))

      append(1, next.subarray(20))
      await drainer.drain()
      await expectCounted(4, 2_001)
      assert.deepEqual(damages, [])
    })
  })
}
