import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * Applies only when counted clicks are in a separate file (storage/sqlite/file-marks.ts).
 */
export const fileMarks: Migration = {
  name: 'file marks',
  servedFrom: 1,
  // An older program would count clicks without updating the totals.
  servedFromOnFiles: 7,
  async up(_db, types, clicks) {
    for (const statement of types.countedFileExtras) await sql.raw(statement).execute(clicks)
  },
}
