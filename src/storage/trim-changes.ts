import type { Kysely } from 'kysely'
import type { Schema } from './schema.ts'

const ROWS_MAX = 1_000

/**
 * Deletes those of the log's first rows that are older; true when there may be more of them. By number,
 * because an index on the times would cost every change more than it saves here.
 */
export async function trimChanges(db: Kysely<Schema>, beforeMicros: number): Promise<boolean> {
  const first = db.selectFrom('changes').select('id').orderBy('id').limit(ROWS_MAX)
  const result = await db
    .deleteFrom('changes')
    .where('id', 'in', first)
    .where('at', '<', beforeMicros)
    .executeTakeFirst()
  return result.numDeletedRows === BigInt(ROWS_MAX)
}
