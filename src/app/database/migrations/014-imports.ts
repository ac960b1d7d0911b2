import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const imports: Migration = {
  name: 'imports',
  // Programs that do not know of it import nothing.
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const bytewise = sql.raw(types.bytewiseText)
    const statements = [
      sql`create table imports (
        id ${uuid} primary key,
        workspace_id ${uuid} not null references workspaces (id),
        source text not null,
        runner text not null,
        status text not null,
        is_dry_run bigint not null,
        options text not null,
        sealed_settings text,
        fingerprint text,
        file_id text,
        file_bytes bigint,
        file_columns text,
        origin text,
        links_expected bigint,
        resume text,
        ahead text,
        rows_done bigint not null,
        counts text not null,
        fault text,
        actor_kind text not null,
        actor_id ${uuid},
        actor_name text not null,
        created_at bigint not null,
        started_at bigint,
        ended_at bigint,
        next_at bigint,
        fence bigint not null,
        lease_until bigint
      )`,
      sql`create index imports_of_workspace on imports (workspace_id, created_at, id)`,
      sql`create index due_imports on imports (next_at) where next_at is not null`,
      sql`create table import_rows (
        import_id ${uuid} not null references imports (id) on delete cascade,
        number bigint not null,
        place text not null,
        old_link text not null,
        outcome text not null,
        is_locked bigint not null,
        is_closed bigint not null,
        link_id ${uuid},
        link text,
        reason text not null,
        source_row text,
        target ${bytewise},
        primary key (import_id, number)
      )`,
      // Dry runs only: what each row would take, to find the next row that would take the same.
      sql`create index import_targets on import_rows (import_id, target) where target is not null`,
      sql`create table imported_links (
        workspace_id ${uuid} not null,
        link_seq bigint not null,
        import_id ${uuid} not null,
        origin ${bytewise} not null,
        keyspace_id bigint not null,
        ref ${bytewise} not null,
        rest text,
        primary key (workspace_id, link_seq),
        unique (workspace_id, origin, ref, keyspace_id)
      )`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
