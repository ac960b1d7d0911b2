import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * On SQLite each day's file gets the new columns when it is opened
 * (clicks/store/sqlite/raw-click-files.ts).
 */
export const clickRules: Migration = {
  name: 'click-rules',
  // Programs that do not know of the columns store clicks without them, and cannot add up days of clicks with rules.
  servedFrom: 1,
  // Nothing is lost by that while a release rolls out over nodes; files go on with the newer program.
  servedFromOnFiles: 30,
  async up(_db, types, clicks) {
    for (const statement of types.rawClickRules) await sql.raw(statement).execute(clicks)
  },
}
