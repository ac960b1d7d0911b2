import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** The rules of a link as JSON. Null for a link that has none. */
export const linkRules: Migration = {
  name: 'link-rules',
  // Programs that do not know of it send visitors to the destinations of the link itself.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table links add column rules text`.execute(db)
  },
}
