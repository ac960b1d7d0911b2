import type { Kysely } from 'kysely'
import type { ChangeLog } from '../../domain/changes/change-log.ts'
import type { Pending } from '../pending-writes.ts'
import type { Schema } from '../schema.ts'
import { trimChanges } from '../trim-changes.ts'

/** SQLite commits one transaction at a time, so the log's numbers are in the order of commits. */
export function sqliteChangeLog(db: Kysely<Schema>, pending: Pending): ChangeLog {
  async function end(): Promise<string> {
    await pending.write()
    const row = await db
      .selectFrom('changes')
      .select((eb) => eb.fn.max('id').as('id'))
      .executeTakeFirst()
    return String(row?.id ?? 0)
  }

  return {
    async append(change, atMicros) {
      pending.appendChange(change, atMicros)
    },

    end,

    async since(cursor, limit) {
      await pending.write()
      const rows = await db
        .selectFrom('changes')
        .select(['id', 'kind', 'subject'])
        .where('id', '>', Number(cursor))
        .orderBy('id')
        .limit(limit + 1)
        .execute()
      if (rows.length > limit) return { changes: undefined, cursor: await end() }
      return { changes: rows, cursor: String(rows.at(-1)?.id ?? cursor) }
    },

    async trim(beforeMicros) {
      await pending.write()
      return trimChanges(db, beforeMicros)
    },
  }
}
