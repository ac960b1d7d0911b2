import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * On SQLite each day's file gets the new columns when it is opened
 * (clicks/store/sqlite/raw-click-files.ts).
 */
export const rawClickCount: Migration = {
  name: 'raw-click-count',
  servedFrom: 1,
  // An older program expects one row per click and would refuse the files.
  servedFromOnFiles: 9,
  async up(_db, types, clicks) {
    for (const statement of types.rawClickCount) await sql.raw(statement).execute(clicks)
  },
}
