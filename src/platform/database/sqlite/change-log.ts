import type { Kysely } from 'kysely'
import type { ChangeLog } from '../../changes/changes.ts'
import type { Schema } from '../schema.ts'
import { TRIM_ROWS_MAX, TRIMMED } from '../trimmed-changes.ts'
import type { WriteBuffer } from '../write-buffer.ts'

/** SQLite commits one transaction at a time, so the log's numbers are in commit order. */
export function sqliteChangeLog(db: Kysely<Schema>, writes: WriteBuffer): ChangeLog {
  /** Returns the highest number that was ever trimmed. */
  async function trimmed(): Promise<number> {
    const row = await db
      .selectFrom('instance')
      .select('value')
      .where('name', '=', TRIMMED)
      .executeTakeFirst()
    return Number(row?.value ?? 0)
  }

  async function end(): Promise<string> {
    await writes.flush()
    const row = await db
      .selectFrom('changes')
      .select((eb) => eb.fn.max('id').as('id'))
      .executeTakeFirst()
    return String(Math.max(Number(row?.id ?? 0), await trimmed()))
  }

  return {
    async append(change, atMicros) {
      writes.appendChange(change, atMicros)
    },

    end,

    async since(cursor, limit) {
      await writes.flush()
      const rows = await db
        .selectFrom('changes')
        .select(['id', 'kind', 'subject'])
        .where('id', '>', Number(cursor))
        .orderBy('id')
        .limit(limit + 1)
        .execute()
      // Read after the rows, so that a concurrent trim is always noticed.
      const isKnown = rows.length <= limit && (await trimmed()) <= Number(cursor)
      return {
        changes: isKnown ? rows : undefined,
        cursor: isKnown ? String(rows.at(-1)?.id ?? cursor) : await end(),
        isInterrupted: false,
      }
    },

    /** Trims by number: an index on the time would cost each change more than it saves here. */
    async trim(beforeMicros) {
      await writes.flush()
      const first = db.selectFrom('changes').select('id').orderBy('id').limit(TRIM_ROWS_MAX)
      const rows = await db
        .deleteFrom('changes')
        .where('id', 'in', first)
        .where('at', '<', beforeMicros)
        .returning('id')
        .execute()
      if (rows.length === 0) return false
      const value = String(Math.max(...rows.map(({ id }) => id)))
      await db
        .insertInto('instance')
        .values({ name: TRIMMED, value })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute()
      return rows.length === TRIM_ROWS_MAX
    },
  }
}
