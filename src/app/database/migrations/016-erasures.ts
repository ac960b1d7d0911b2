import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const erasures: Migration = {
  name: 'erasures',
  // Programs that do not know of it leave the counts of deleted links, as before.
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const statements = [
      sql`create table deleted_links (
        link_seq ${sql.raw(types.number)} primary key,
        workspace_id ${uuid} not null,
        deleted_at bigint not null
      )`,
      sql`create index deleted_links_by_age on deleted_links (deleted_at, link_seq)`,
      sql`create index deleted_links_of_workspace on deleted_links (workspace_id)`,
      sql`create table deleted_people (
        id ${uuid} primary key,
        email_folded text not null,
        deleted_at bigint not null,
        events_until bigint not null
      )`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
