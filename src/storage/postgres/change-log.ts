import { type Kysely, sql } from 'kysely'
import type { Change } from '../../domain/changes/change.ts'
import type { ChangeLog } from '../../domain/changes/change-log.ts'
import { appendChange } from '../append-change.ts'
import type { Schema } from '../schema.ts'

/** The column that each row of the log gets by itself: the transaction that wrote it. */
export const TRANSACTION_COLUMN = ', transaction_id xid8 not null default pg_current_xact_id()'

/**
 * PostgreSQL commits transactions in another order than that in which they take numbers, so a reader
 * that remembers the highest number misses those that commit late. Here the cursor is a transaction
 * id below which everything has ended (`pg_snapshot_xmin`). What stands at or above it is told at
 * every reading until the cursor has passed it: to forget a thing twice does no harm.
 */
export function postgresChangeLog(db: Kysely<Schema>): ChangeLog {
  return {
    async append(change, atMicros) {
      await appendChange(db, { at: atMicros, kind: change.kind, subject: change.subject })
    },

    async end() {
      const result = await sql<{ xmin: string }>`
        select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`.execute(db)
      return result.rows[0]?.xmin ?? '0'
    },

    async since(cursor, limit) {
      // One statement, so that the rows and the horizon are of one snapshot.
      const result = await sql<Change & { xmin: string; transaction_id: string | null }>`
        select horizon.xmin::text as xmin, c.kind, c.subject, c.transaction_id::text
        from (select pg_snapshot_xmin(pg_current_snapshot()) as xmin) horizon
        left join lateral (
          select kind, subject, transaction_id from changes
          where transaction_id >= ${cursor}::xid8
          order by transaction_id, id
          limit ${limit + 1}
        ) c on true`.execute(db)
      const rows = result.rows.filter((row) => row.transaction_id !== null)
      const horizon = result.rows[0]?.xmin ?? cursor
      return { changes: rows.length > limit ? undefined : rows, cursor: horizon }
    },

    async trim(beforeMicros) {
      await db.deleteFrom('changes').where('at', '<', beforeMicros).execute()
    },
  }
}
