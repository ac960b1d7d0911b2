import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Who made a one-time link, so that it is judged again when it is used. */
export const grantMakers: Migration = {
  name: 'grant-makers',
  // Links of programs that do not know of it have no maker, and no newer program accepts them.
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const statements = [
      sql`alter table one_time_links add column created_by_kind text`,
      sql`alter table one_time_links add column created_by_id ${uuid}`,
      sql`create index one_time_links_of_maker on one_time_links (created_by_id)`,
      sql`delete from one_time_links where kind <> 'setup'`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
