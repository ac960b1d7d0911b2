import type { Kysely } from 'kysely'
import type { ChangeLog } from '../../domain/changes/change-log.ts'
import { appendChange } from '../append-change.ts'
import type { Schema } from '../schema.ts'

/** SQLite commits one transaction at a time, so the log's numbers are in the order of commits. */
export function sqliteChangeLog(db: Kysely<Schema>): ChangeLog {
  async function end(): Promise<string> {
    const row = await db
      .selectFrom('changes')
      .select((eb) => eb.fn.max('id').as('id'))
      .executeTakeFirst()
    return String(row?.id ?? 0)
  }

  return {
    async append(change, atMicros) {
      await appendChange(db, { at: atMicros, kind: change.kind, subject: change.subject })
    },

    end,

    async since(cursor, limit) {
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
      await db.deleteFrom('changes').where('at', '<', beforeMicros).execute()
    },
  }
}
