import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Visitors whose way is tried before a link's rules change, as JSON; null for none. */
export const linkExamples: Migration = {
  name: 'link-examples',
  // Programs that do not know of them change links without trying them.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table links add column examples text`.execute(db)
  },
}
