import type { Kysely } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'
import type { WriteBuffer } from '../../../storage/write-buffer.ts'
import type { EventFeed } from '../../event-store.ts'
import { EVENT_COLUMNS, eventsOf } from '../event-rows.ts'

/**
 * SQLite commits one transaction at a time, so the numbers of events are in the order of commits. A restored
 * file assigns numbers again, so a reader must store its cursor in the same file.
 */
export function sqliteEventFeed(db: Kysely<Schema>, writes: WriteBuffer): EventFeed {
  return {
    async end() {
      await writes.flush()
      const row = await db
        .selectFrom('events')
        .select((eb) => eb.fn.max('id').as('id'))
        .executeTakeFirst()
      return String(row?.id ?? 0)
    },

    async since(cursor, limit) {
      await writes.flush()
      const rows = await db
        .selectFrom('events')
        .select(EVENT_COLUMNS)
        .where('id', '>', Number(cursor))
        .orderBy('id')
        .limit(limit)
        .execute()
      return { events: await eventsOf(db, rows), cursor: String(rows.at(-1)?.id ?? cursor) }
    },
  }
}
