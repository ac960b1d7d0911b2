import type { Kysely } from 'kysely'
import type { Scans } from '../../storage/scans.ts'
import type { Schema } from '../../storage/schema.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import type { EventFeed, EventStore } from '../event-store.ts'
import { eventRun } from './event-pages.ts'

/** The number of events to delete per statement. */
const TRIM_MAX = 1_000

export type OpenEventFeed = (db: Kysely<Schema>, writes: WriteBuffer) => EventFeed

export function eventStore(on: {
  db: Kysely<Schema>
  scans: Scans
  writes: WriteBuffer
  openFeed: OpenEventFeed
}): EventStore {
  const { db, writes } = on
  const feed = on.openFeed(db, writes)
  return {
    end: feed.end,
    since: feed.since,
    append: (author, event, atMicros) => writes.appendEvent(author, event, atMicros),
    async run(run) {
      await writes.flush()
      return eventRun(on, run)
    },
    /** By number, which rises with time but for the differences of clocks. */
    async trim(beforeMicros) {
      await writes.flush()
      const first = db.selectFrom('events').select('id').orderBy('id').limit(TRIM_MAX)
      const result = await db
        .deleteFrom('events')
        .where('id', 'in', first)
        .where('at', '<', beforeMicros)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}
