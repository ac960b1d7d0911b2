import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What counting needs where clicks are kept in ClickHouse: begun batches, and clicks that no chart here has. */
export const clickIntents: Migration = {
  name: 'click-intents',
  // Programs that do not know of it write clicks to this database.
  servedFrom: 1,
  servedFromOnFiles: 30,
  async up(_db, types, clicks) {
    await sql`create table if not exists click_intents (
      journal_id text primary key,
      from_segment bigint not null,
      from_position bigint not null,
      to_segment bigint not null,
      to_position bigint not null,
      begun_at bigint not null
    )`.execute(clicks)
    for (const statement of types.unchartedClicks) await sql.raw(statement).execute(clicks)
  },
}
