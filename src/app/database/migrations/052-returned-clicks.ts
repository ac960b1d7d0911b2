import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What came back from ClickHouse (clicks/store/returned-days.ts). */
export const returnedClicks: Migration = {
  name: 'returned-clicks',
  // Programs that do not know of it show the same charts.
  servedFrom: 1,
  servedFromOnFiles: 30,
  async up(_db, types, clicks) {
    const number = sql.raw(types.number)
    await sql`create table if not exists returned_tallies (
      day integer not null,
      scope smallint not null,
      subject ${number} not null,
      workspace_id text not null,
      origin bigint not null,
      persons bigint not null,
      others bigint not null,
      data ${sql.raw(types.bytes)} not null,
      primary key (day, scope, subject, workspace_id, origin)
    )`.execute(clicks)
    await sql`create table if not exists returned_days (
      origin bigint not null,
      day integer not null,
      mark text not null,
      primary key (origin, day)
    )`.execute(clicks)
    for (const statement of types.returnedRawClicks) await sql.raw(statement).execute(clicks)
  },
}
