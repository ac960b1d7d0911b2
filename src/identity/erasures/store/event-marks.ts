import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { TRANSACTION_EPOCH } from '../../../platform/database/postgres/change-log.ts'
import type { Schema } from '../../../platform/database/schema.ts'

/** Moments in the order in which events become visible, which is not that of their numbers on PostgreSQL. */
export type EventMarks = {
  /** Marks this moment. */
  take(): Promise<string>
  /**
   * `open` while a transaction that was running at the mark may still commit events. `lost` when the mark has no
   * meaning any more, for example after a restore.
   */
  stateOf(mark: string): Promise<'open' | 'settled' | 'lost'>
  /** The condition for events that were not visible at the mark. */
  isAfter(mark: string): RawBuilder<SqlBool>
}

export type OpenEventMarks = (db: Kysely<Schema>) => EventMarks

/** SQLite commits one transaction at a time, in the order of the events' numbers. */
export function sqliteEventMarks(db: Kysely<Schema>): EventMarks {
  return {
    async take() {
      const row = await db
        .selectFrom('events')
        .select((eb) => eb.fn.max('id').as('id'))
        .executeTakeFirst()
      return String(row?.id ?? 0)
    },
    stateOf: async () => 'settled',
    isAfter: (mark) => sql<SqlBool>`id > ${Number(mark)}`,
  }
}

/** A mark is `<epoch> <snapshot>`. */
export function postgresEventMarks(db: Kysely<Schema>): EventMarks {
  return {
    async take() {
      const { rows } = await sql<{ mark: string }>`
        select concat_ws(' ', ${TRANSACTION_EPOCH}, pg_current_snapshot()) as mark`.execute(db)
      return rows[0]?.mark ?? ''
    },
    async stateOf(mark) {
      const { epoch, snapshot } = partsOf(mark)
      const { rows } = await sql<{ isSame: boolean; isSettled: boolean }>`
        select ${TRANSACTION_EPOCH} = ${epoch} as "isSame",
          pg_snapshot_xmin(pg_current_snapshot()) >= pg_snapshot_xmax(${snapshot}::pg_snapshot)
            as "isSettled"`.execute(db)
      if (!rows[0]?.isSame) return 'lost'
      return rows[0].isSettled ? 'settled' : 'open'
    },
    isAfter(mark) {
      const { snapshot } = partsOf(mark)
      return sql<SqlBool>`transaction_id >= pg_snapshot_xmin(${snapshot}::pg_snapshot)
        and not pg_visible_in_snapshot(transaction_id, ${snapshot}::pg_snapshot)`
    },
  }
}

function partsOf(mark: string): { epoch: string; snapshot: string } {
  const end = mark.lastIndexOf(' ')
  return { epoch: mark.slice(0, end), snapshot: mark.slice(end + 1) }
}
