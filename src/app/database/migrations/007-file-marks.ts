import { sql } from 'kysely'
import type { Migration } from '../../../platform/database/migration.ts'

/** Only where the counted clicks are in a file of their own (platform/database/sqlite/file-marks.ts). */
export const fileMarks: Migration = {
  name: 'file marks',
  servedFrom: 1,
  // A program that does not know the totals would count clicks without them.
  servedFromOnFiles: 7,
  async up(_db, types, clicks) {
    for (const statement of types.countedFileExtras) await sql.raw(statement).execute(clicks)
  },
}
