import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { openStore } from '../../src/app/database/open-store.ts'
import type { ClickWriter } from '../../src/clicks/click-writer.ts'
import { DrainProgress } from '../../src/clicks/ingest/drain-messages.ts'
import { Drainer } from '../../src/clicks/ingest/drainer.ts'
import {
  createJournal,
  type JournalFolder,
  journalsRoot,
  segmentFile,
} from '../../src/clicks/journal/journal-folder.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { encodeFrame } from '../support/click-frames.ts'
import { openWriterAt, overrideWriter } from '../support/click-writers.ts'
import { copyDatabase } from '../support/database-access.ts'
import { ENGINES, type Place } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { clicksFrom } from './some-clicks.ts'
import { createTestLink } from './test-link.ts'

const clock = systemClock()
const MINUTE_MS = 60_000
const CLICKS = 5

for (const engine of ENGINES.filter(({ name }) => name === 'PostgreSQL')) {
  describe('a journal after its database was restored to an older state', () => {
    let place: Place
    /**
     * A database with the clicks of the first segment only, as a standby that received no more
     * before it was promoted.
     */
    let older: Place
    let journal: JournalFolder
    let linkSeq: number
    let writers: ClickWriter[]
    beforeEach(async () => {
      place = await engine.createPlace()
      writers = []
      const { store } = await openStore({ ...place, clock, onError: () => {} })
      linkSeq = (await createTestLink(store, clock)).seq
      await store.close()
      journal = createJournal(journalsRoot(place.dataDir))
      append(1)
      const writer = await openWriterAt(place)
      await drainerOver(writer, MINUTE_MS).drain()
      await writer.close()
      older = await copyDatabase(place)
    })
    afterEach(async () => {
      await Promise.all(writers.map((writer) => writer.close()))
      await older.remove()
      await place.remove()
    })

    function append(segment: number): void {
      const clicks = clicksFrom(segment * 1_000, CLICKS, linkSeq)
      writeFileSync(segmentFile(journal.folder, segment), encodeFrame(clicks))
    }

    function drainerOver(writer: ClickWriter, keepMs: number): Drainer {
      return new Drainer({
        writer,
        clock,
        journal,
        keepMs,
        activeSegment: () => Number.POSITIVE_INFINITY,
        progress: new DrainProgress(),
        onError: assert.ifError,
        onDamage: ({ bytes }) => assert.fail(`${bytes} damaged bytes`),
      })
    }

    /** Runs an intake over the database, until the older one has replaced it. */
    async function writerUntilPromotion(): Promise<ClickWriter & { promote(): void }> {
      const [before, after] = [await openWriterAt(place), await openWriterAt(older)]
      writers.push(before, after)
      let current = before
      return {
        ...overrideWriter(before, {
          findPosition: (id) => current.findPosition(id),
          write: (batch) => current.write(batch),
        }),
        promote() {
          current = after
        },
      }
    }

    async function expectCounted({ databaseUrl }: Place, segments: number): Promise<void> {
      const client = new pg.Client(databaseUrl)
      await client.connect()
      try {
        const { rows } = await client.query(`select count(*)::integer as raw,
          (select sum(clicks)::integer from link_clicks) as counted from clicks`)
        assert.deepEqual(rows, [{ raw: segments * CLICKS, counted: segments * CLICKS }])
      } finally {
        await client.end()
      }
    }

    test('is drained again for the lost clicks, though whole segments had been drained', async () => {
      const writer = await writerUntilPromotion()
      const drainer = drainerOver(writer, MINUTE_MS)
      append(2)
      append(3)
      drainer.wake()
      await eventually(() => expectCounted(place, 3))
      writer.promote()
      await expectCounted(older, 1)
      append(4)
      drainer.wake()
      await eventually(() => expectCounted(older, 4))
      await drainer.stop()
    })

    test('is drained again without a new click', async () => {
      const writer = await writerUntilPromotion()
      const drainer = drainerOver(writer, MINUTE_MS)
      append(2)
      drainer.wake()
      await eventually(() => expectCounted(place, 2))
      writer.promote()
      drainer.recheck()
      await eventually(() => expectCounted(older, 2))
      await drainer.stop()
    })

    test('is drained again when the intake stops', async () => {
      const writer = await writerUntilPromotion()
      const drainer = drainerOver(writer, MINUTE_MS)
      append(2)
      await drainer.drain()
      writer.promote()
      await drainer.drain()
      await expectCounted(older, 2)
    })

    test('keeps drained segments no longer than configured', async () => {
      const drainer = drainerOver(await writerUntilPromotion(), 1)
      const first = segmentFile(journal.folder, 1)
      for (let segment = 2; segment < 10 && existsSync(first); segment += 1) {
        append(segment)
        drainer.wake()
        await eventually(() => expectCounted(place, segment))
      }
      assert.ok(!existsSync(first))
      await drainer.stop()
    })
  })
}
