import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const clickSpools: Migration = {
  name: 'click-spools',
  servedFrom: 1,
  // An older program would take the days of unknown visitors in clicks.db for damaged.
  servedFromOnFiles: 15,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table click_spools (
      id ${uuid} primary key,
      workspace_id ${uuid} not null references workspaces (id),
      state text not null,
      visitor_key text,
      parts bigint not null,
      journal_id text,
      opening bigint not null,
      opening_links bigint not null,
      created_at bigint not null
    )`.execute(db)
    await sql`create index click_spools_sealed on click_spools (id)
      where state = 'sealed'`.execute(db)
    await sql`create table click_spool_parts (
      spool_id ${uuid} not null,
      bucket integer not null,
      part bigint not null,
      clicks integer not null,
      data ${sql.raw(types.bytes)} not null,
      primary key (spool_id, bucket, part)
    )`.execute(db)
  },
}
