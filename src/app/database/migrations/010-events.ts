import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const events: Migration = {
  name: 'events',
  // Programs that do not know of it write no events, and harm none.
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const statements = [
      sql`create table events (
        id ${sql.raw(types.sequence)},
        at bigint not null,
        workspace_id ${uuid} not null,
        actor_kind text not null,
        actor_id ${uuid},
        actor_name text not null,
        request_id text,
        type text not null,
        subject_id ${uuid} not null,
        before_fields text,
        after_fields text
        ${sql.raw(types.changeLogExtra)}
      )`,
      sql`create index events_of_workspace on events (workspace_id, at, id)`,
      sql`create index events_of_subject on events (workspace_id, subject_id, at, id)`,
      ...types.eventLogIndexes.map((statement) => sql.raw(statement)),
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
