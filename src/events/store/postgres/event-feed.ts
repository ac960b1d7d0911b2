import { type Kysely, sql } from 'kysely'
import { TRANSACTION_EPOCH } from '../../../platform/database/postgres/change-log.ts'
import type { Schema } from '../../../platform/database/schema.ts'
import type { WriteBuffer } from '../../../platform/database/write-buffer.ts'
import type { EventCursor, EventFeed, NewEvents } from '../../event-store.ts'
import { EVENT_COLUMNS, type EventRow, eventOf } from '../event-rows.ts'

/** How much is read again where numbers of transactions mean nothing any more. */
const OVERLAP_MICROS = 60 * 60 * 1_000_000

/** What a cursor is made of. Snapshots are PostgreSQL's, as text. */
type Position = {
  readonly epoch: string
  /** The server's time when `seen` was taken, in microseconds. */
  readonly at: number
  /** What is visible in it was read before; null where the last hour is read again. */
  readonly seen: string | null
  /** Set while more was committed after `seen` than one reading returned: the rest of that is read first. */
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
 * Transactions commit in another order than that in which events get their numbers. So a cursor holds a
 * snapshot, as that of the change log does: an event is new when it is visible now and was not visible in
 * the snapshot. What one reading cannot return is read up to the snapshot of that reading, in the order of
 * transactions, before anything newer.
 *
 * Where the numbers of transactions have begun another life (a restored copy, a promoted standby, a crash),
 * all events of the last hour before the cursor are read again.
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
    // The first condition is for the index: no transaction before was still under way then.
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
    // The reading before had returned all of its snapshot: go on with what is newer.
    if (rows.length === 0 && within !== undefined) return since(nextCursor, limit)
    return { events: rows.map(eventOf), cursor: nextCursor }
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
