import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Regions and cities of clicks. On SQLite each day's file gets the new columns when it is opened, as for labels. */
export const clickPlaces: Migration = {
  name: 'click-places',
  // As in `clickRules`: programs that do not know of them store clicks without them.
  servedFrom: 1,
  servedFromOnFiles: 39,
  async up(_db, types, clicks) {
    for (const statement of types.rawClickPlaces) await sql.raw(statement).execute(clicks)
  },
}
