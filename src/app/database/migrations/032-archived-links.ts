import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** How many links of each bucket are archived, and an index of the others: lists leave archived links out. */
export const archivedLinks: Migration = {
  name: 'archived-links',
  // Programs that do not know of it list archived links like the others.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table link_buckets add column archived bigint not null default 0`.execute(db)
    await sql`create index links_listed on links (workspace_id, seq) where archived = 0`.execute(db)
  },
}
