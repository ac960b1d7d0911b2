import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Programs that people let work in their name over MCP. A workspace without a row of settings allows it. */
export const assistants: Migration = {
  name: 'assistants',
  // Programs that do not know of them have no MCP endpoint.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const text = sql.raw(types.bytewiseText)
    await sql`create table assistant_settings (
      workspace_id ${uuid} primary key,
      is_enabled integer not null
    )`.execute(db)
    await sql`create table assistants (
      id ${uuid} primary key,
      workspace_id ${uuid} not null,
      person_id ${uuid} not null,
      client_id ${text} not null,
      client_name text not null,
      scopes text not null,
      created_at bigint not null,
      expires_at bigint not null,
      last_used_at bigint
    )`.execute(db)
    await sql`create index assistants_by_workspace on assistants (workspace_id, person_id)`.execute(
      db,
    )
    await sql`create index assistants_by_person on assistants (person_id)`.execute(db)
    await sql`create index assistants_by_expiry on assistants (expires_at)`.execute(db)
    await sql`create table assistant_secrets (
      hash ${text} primary key,
      assistant_id ${uuid} not null references assistants (id) on delete cascade,
      kind text not null,
      expires_at bigint not null,
      used_at bigint,
      redirect_uri text,
      challenge text
    )`.execute(db)
    await sql`create index assistant_secrets_by_assistant on assistant_secrets (assistant_id)`.execute(
      db,
    )
    await sql`create index assistant_secrets_by_expiry on assistant_secrets (expires_at)`.execute(
      db,
    )
    // Identifiers are compared with those of assistants, which may be addresses.
    await sql`create table oauth_clients (
      id ${text} primary key,
      name text not null,
      redirect_uris text not null,
      created_at bigint not null
    )`.execute(db)
  },
}
