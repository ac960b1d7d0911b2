import { sql } from 'kysely'
import { workspaceNumber } from '../../../storage/event-log.ts'
import type { Migration } from '../../../storage/migration.ts'

/** Moves the authors of events to a table of their own, and shortens the keys of the indexes. */
export const eventAuthors: Migration = {
  name: 'event-authors',
  // The first release writes no events, and no version with the dropped columns was released.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    await sql`create table event_authors (
      number ${sql.raw(types.number)} primary key,
      workspace_id ${sql.raw(types.uuid)} not null,
      kind text not null,
      actor_id ${sql.raw(types.uuid)},
      name text not null
    )`.execute(db)
    const statements = [
      sql`insert into event_authors (number, workspace_id, kind, actor_id, name)
        select row_number() over (), workspace_id, actor_kind, actor_id, actor_name
        from (select distinct workspace_id, actor_kind, actor_id, actor_name from events) as authors`,
      sql`create index event_authors_of_workspace on event_authors (workspace_id, actor_id)`,
      sql`alter table events add column workspace bigint not null default 0`,
      sql`alter table events add column author bigint not null default 0`,
      sql`update events set author = (
          select number from event_authors
          where event_authors.workspace_id = events.workspace_id
            and event_authors.actor_id = events.actor_id
            and kind = actor_kind and name = actor_name)
        where actor_id is not null`,
      sql`update events set author = (
          select number from event_authors
          where event_authors.workspace_id = events.workspace_id
            and event_authors.actor_id is null
            and kind = actor_kind and name = actor_name)
        where actor_id is null`,
    ]
    for (const statement of statements) await statement.execute(db)
    const { rows } = await sql<{ workspace_id: string }>`
      select distinct workspace_id from event_authors`.execute(db)
    for (const { workspace_id } of rows) {
      await sql`update events set workspace = ${workspaceNumber(workspace_id)}
        where workspace_id = ${workspace_id}`.execute(db)
    }
    const rest = [
      sql`drop index events_of_workspace`,
      sql`drop index events_of_subject`,
      ...['workspace_id', 'actor_kind', 'actor_id', 'actor_name'].map(
        (column) => sql`alter table events drop column ${sql.ref(column)}`,
      ),
      sql`create index events_of_workspace on events (workspace, at, id)`,
      sql`create index events_of_subject on events (workspace, subject_id, at, id)
        where type <> 'link.created'`,
    ]
    for (const statement of rest) await statement.execute(db)
  },
}
