import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What finds links that have expired, and which limits of links are known to be reached. */
export const linkMilestones: Migration = {
  name: 'link-milestones',
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    // Links without an expiry, which are most, have no entry.
    await sql`create index links_by_expiry on links (expires_at, seq)
      where expires_at is not null`.execute(db)
    await sql`create table reached_limits (
      link_seq bigint not null primary key,
      max_clicks bigint not null
    )`.execute(db)
  },
}
