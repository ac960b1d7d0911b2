import { type Kysely, sql } from 'kysely'
import { TRANSACTION_EPOCH } from '../../storage/postgres/change-log.ts'
import type { Schema } from '../../storage/schema.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import {
  EVENT_COLUMNS,
  type EventCursor,
  type EventFeed,
  type EventRow,
  eventsOf,
  type NewEvents,
} from './event-store.ts'

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

/** The events to read again after transaction numbers may have been reused. */
const OVERLAP_MICROS = 60 * 60 * 1_000_000

/** The content of a cursor. Snapshots are those of PostgreSQL, as text. */
type Position = {
  readonly epoch: string
  /** The server's time when `seen` was taken, in microseconds. */
  readonly at: number
  /** Events that are visible in this snapshot have been read; null to read the last hour again. */
  readonly seen: string | null
  /** Set when a read returned only a part of the events after `seen`: the rest is read first. */
  readonly within?: {
    readonly snapshot: string
    readonly at: number
    /** The last event that was read. */
    readonly transactionId: string
    readonly sequence: number
  }
}

type Now = { readonly epoch: string; readonly at: number; readonly snapshot: string }

/**
 * Transactions commit in a different order than their events get their numbers. So a cursor contains a
 * snapshot, like that of the change log: an event is new if it is visible now but was not in the snapshot.
 * When one read cannot return all new events, the next reads return the rest, in the order of transactions,
 * before anything newer.
 *
 * After a restore, a promotion or a crash, the server may reuse transaction numbers. Then all events of the
 * last hour before the cursor are read again.
 */
export function postgresEventFeed(db: Kysely<Schema>, writes: WriteBuffer): EventFeed {
  async function now(): Promise<Now> {
    const { rows } = await sql<Now>`
      select ${TRANSACTION_EPOCH} as epoch, pg_current_snapshot()::text as snapshot,
        (extract(epoch from clock_timestamp()) * 1e6)::bigint as at`.execute(db)
    const [row] = rows
    if (row === undefined) throw new Error('PostgreSQL answered with no row')
    return row
  }

  async function since(cursor: EventCursor, limit: number): Promise<NewEvents> {
    await writes.flush()
    const position = JSON.parse(cursor) as Position
    const current = await now()
    const isSameEpoch = position.epoch === current.epoch
    const { within, seen } = isSameEpoch ? position : { within: undefined, seen: null }
    const until = within ?? current
    // The first condition lets the query use the index: earlier transactions had ended by then.
    const isNew =
      seen === null
        ? sql`true`
        : sql`transaction_id >= pg_snapshot_xmin(${seen}::pg_snapshot)
              and not pg_visible_in_snapshot(transaction_id, ${seen}::pg_snapshot)
              and pg_visible_in_snapshot(transaction_id, ${until.snapshot}::pg_snapshot)`
    const isBehind =
      within === undefined
        ? sql`true`
        : sql`(transaction_id, id) > (${within.transactionId}::xid8, ${within.sequence})`
    const { rows } = await sql<EventRow & { transaction_id: string }>`
        select ${sql.join(EVENT_COLUMNS.map((column) => sql.ref(column)))},
          transaction_id::text as transaction_id
        from events
        where at >= ${position.at - OVERLAP_MICROS} and ${isNew} and ${isBehind}
        order by events.transaction_id, id
        limit ${limit}`.execute(db)
    const last = rows.at(-1)
    const { epoch } = current
    const next: Position =
      last === undefined || rows.length < limit
        ? { epoch, at: until.at, seen: until.snapshot }
        : {
            epoch,
            at: position.at,
            seen,
            within: {
              snapshot: until.snapshot,
              at: until.at,
              transactionId: last.transaction_id,
              sequence: last.id,
            },
          }
    const nextCursor = JSON.stringify(next)
    // The previous read has returned the last event of its snapshot: continue with newer ones.
    if (rows.length === 0 && within !== undefined) return since(nextCursor, limit)
    return { events: await eventsOf(db, rows), cursor: nextCursor }
  }

  return {
    since,
    async end() {
      await writes.flush()
      const { snapshot, ...rest } = await now()
      return JSON.stringify({ ...rest, seen: snapshot } satisfies Position)
    },
  }
}
