import { type Kysely, sql } from 'kysely'
import type { Change } from '../../domain/changes/change.ts'
import type { ChangeLog } from '../../domain/changes/change-log.ts'
import type { Pending } from '../pending-writes.ts'
import type { Schema } from '../schema.ts'
import { trimChanges } from '../trim-changes.ts'

/** The column that each row of the log gets by itself: the transaction that wrote it. */
export const TRANSACTION_COLUMN = ', transaction_id xid8 not null default pg_current_xact_id()'

/** By which a reader finds what is new without reading the whole log. */
export const TRANSACTION_INDEX = 'create index changes_transaction on changes (transaction_id)'

/**
 * PostgreSQL commits transactions in another order than that in which they take numbers, so a reader
 * that remembers the highest number misses those that commit late. Here the cursor is a snapshot
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT): what is new
 * is what is visible now and was not visible in it, each change once, however long others take.
 */
export function postgresChangeLog(db: Kysely<Schema>, pending: Pending): ChangeLog {
  return {
    async append(change, atMicros) {
      pending.appendChange(change, atMicros)
    },

    async end() {
      const result = await sql<{ snapshot: string }>`
        select pg_current_snapshot()::text as snapshot`.execute(db)
      return snapshotOf(result.rows)
    },

    async since(cursor, limit) {
      await pending.write()
      // One statement, so that the rows and the new cursor are of one snapshot.
      const result = await sql<Nullable<Change> & { snapshot: string }>`
        select pg_current_snapshot()::text as snapshot, c.kind, c.subject
        from (select ${cursor}::pg_snapshot as snapshot) seen
        left join lateral (
          select kind, subject from changes
          where transaction_id >= pg_snapshot_xmin(seen.snapshot)
            and not pg_visible_in_snapshot(transaction_id, seen.snapshot)
          order by transaction_id, id
          limit ${limit + 1}
        ) c on true`.execute(db)
      const rows = result.rows.flatMap(({ kind, subject }) =>
        kind === null || subject === null ? [] : [{ kind, subject }],
      )
      return {
        changes: rows.length > limit ? undefined : rows,
        cursor: snapshotOf(result.rows),
      }
    },

    async trim(beforeMicros) {
      await pending.write()
      return trimChanges(db, beforeMicros)
    },
  }
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null }

function snapshotOf(rows: readonly { snapshot: string }[]): string {
  const [row] = rows
  if (row === undefined) throw new Error('PostgreSQL told no snapshot')
  return row.snapshot
}
