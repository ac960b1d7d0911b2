import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** How the clicks that a link's limit allows are leased to nodes, and how many each has used. */
export const clickLimits: Migration = {
  name: 'click-limits',
  // Programs that do not know of it answer every visit, as they do without the limit itself.
  servedFrom: 1,
  servedFromOnFiles: 30,
  async up(db, _types, clicks) {
    await sql`create table click_leases (
      link_seq bigint not null,
      journal_id text not null,
      granted bigint not null,
      held bigint not null,
      updated_at bigint not null,
      primary key (link_seq, journal_id)
    )`.execute(db)
    await sql`create index click_leases_of_journal on click_leases (journal_id)`.execute(db)
    await sql`create table if not exists leased_clicks (
      link_seq bigint not null,
      journal_id text not null,
      spent bigint not null,
      primary key (link_seq, journal_id)
    )`.execute(clicks)
  },
}
