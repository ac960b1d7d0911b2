import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What links do with the path behind their key, and an index of those that do something. */
export const linkPaths: Migration = {
  name: 'link-paths',
  // Programs that do not know of it find links by their whole path alone.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table links add column path text not null default 'none'`.execute(db)
    await sql`create index links_with_path on links (keyspace_id, seq) where path <> 'none'`.execute(
      db,
    )
  },
}
