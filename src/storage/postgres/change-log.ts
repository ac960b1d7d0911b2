import { type Kysely, sql } from 'kysely'
import { type Change, type ChangeLog, TRIM_ROWS_MAX, TRIMMED } from '../changes.ts'
import type { Schema } from '../schema.ts'
import type { WriteBuffer } from '../write-buffer.ts'

/** The column that defaults to the transaction that wrote the row. */
export const TRANSACTION_COLUMN = ', transaction_id xid8 not null default pg_current_xact_id()'

/** Lets a reader find new rows without scanning the whole log. */
export const TRANSACTION_INDEX = 'create index changes_transaction on changes (transaction_id)'

/**
 * Identifies the server, the database and its timeline. Each promotion of a standby begins a new
 * timeline, which reuses the numbers of transactions that the standby never received. A restored
 * copy is a different database, even at the same address. Fails on a standby, to which a pooler may have
 * switched under an open connection.
 */
const HISTORY = sql<string>`concat_ws('-',
  (select system_identifier from pg_control_system()),
  (select oid from pg_database where datname = current_database()),
  left(pg_walfile_name(pg_current_wal_lsn()), 8))`

/**
 * The time of the server's last crash recovery, microseconds since the epoch; orderly restarts do
 * not change it. The server discards its statistics on recovery and records the time of the reset
 * (https://www.postgresql.org/docs/current/monitoring-stats.html). A lost connection is no evidence
 * of a crash: most causes of it lose no transaction.
 */
const UNCRASHED_SINCE = sql<string>`
  coalesce((extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) * 1e6)::bigint, 0)`

/**
 * Identifies the period in which a transaction's number is given once: another history, or a crash,
 * may give it again.
 */
export const TRANSACTION_EPOCH = sql<string>`concat_ws(' ', ${HISTORY}, ${UNCRASHED_SINCE})`

/** `<history> <uncrashed since> <snapshot>` */
const CURSOR = sql<string>`concat_ws(' ', ${TRANSACTION_EPOCH}, pg_current_snapshot())`

/**
 * PostgreSQL does not commit transactions in the order of their numbers, so a reader that remembers
 * the highest number misses those that commit late. Here the cursor is a snapshot
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT): new rows
 * are those that are visible now and were not visible in it. Each change is returned exactly once,
 * even while long transactions are running.
 */
export function postgresChangeLog(db: Kysely<Schema>, writes: WriteBuffer): ChangeLog {
  return {
    async append(change, atMicros) {
      writes.appendChange(change, atMicros)
    },

    async end() {
      const result = await sql<{ cursor: string }>`select ${CURSOR} as cursor`.execute(db)
      return first(result.rows).cursor
    },

    async since(cursor, limit) {
      await writes.flush()
      // A cursor ahead of the server dates from before the server's disk was restored to an older
      // state, which keeps the timeline. The server then reuses the transaction numbers in between,
      // and the cursor would treat those new changes as already seen.
      const [history, uncrashedSince, snapshot] = cursor.split(' ')
      // One statement, so that the rows and the new cursor come from the same snapshot.
      const result = await sql<Nullable<Change> & { cursor: string; is_continued: boolean }>`
        select ${CURSOR} as cursor, c.kind, c.subject,
          ${HISTORY} = ${history}
            and pg_snapshot_xmax(seen.snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
            and not exists (
              select from instance where name = ${TRIMMED}
                and not pg_visible_in_snapshot(value::xid8, seen.snapshot)
            ) as is_continued
        from (select ${snapshot}::pg_snapshot as snapshot) seen
        left join lateral (
          select kind, subject from changes
          where transaction_id >= pg_snapshot_xmin(seen.snapshot)
            and not pg_visible_in_snapshot(transaction_id, seen.snapshot)
          order by transaction_id, id
          limit ${limit + 1}
        ) c on true`.execute(db)
      const { cursor: next, is_continued } = first(result.rows)
      const rows = result.rows.flatMap(({ kind, subject }) =>
        kind === null || subject === null ? [] : [{ kind, subject }],
      )
      const isKnown = is_continued && rows.length <= limit
      return {
        changes: isKnown ? rows : undefined,
        cursor: next,
        isInterrupted: next.split(' ')[1] !== uncrashedSince,
      }
    },

    async trim(beforeMicros) {
      await writes.flush()
      const result = await sql<{ trimmed: number }>`
        with trimmed as (
          delete from changes
          where id in (select id from changes order by id limit ${TRIM_ROWS_MAX})
            and at < ${beforeMicros}
          returning transaction_id
        ), marked as (
          insert into instance as kept (name, value)
          select ${TRIMMED}, max(transaction_id)::text from trimmed having count(*) > 0
          on conflict (name) do update
            set value = greatest(kept.value::xid8, excluded.value::xid8)::text
        )
        select count(*) as trimmed from trimmed`.execute(db)
      return first(result.rows).trimmed === TRIM_ROWS_MAX
    },
  }
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null }

function first<R>([row]: readonly R[]): R {
  if (row === undefined) throw new Error('PostgreSQL returned no row')
  return row
}
