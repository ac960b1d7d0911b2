import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What a link has beside the fields of the specification. */
export const linkOptions: Migration = {
  name: 'link-options',
  // Programs that do not know of them redirect as if no link had any.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table links add column max_clicks integer`.execute(db)
    await sql`alter table links add column active_from text`.execute(db)
    await sql`alter table links add column archived integer not null default 0`.execute(db)
    await sql`alter table links add column notes text`.execute(db)
    await sql`alter table links add column query text not null default 'merge'`.execute(db)
  },
}
