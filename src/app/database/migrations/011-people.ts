import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const people: Migration = {
  name: 'people',
  // Programs that do not know of people serve links as before.
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const statements = [
      sql`create table people (
        id ${uuid} primary key,
        email text not null,
        email_folded text not null unique,
        name text not null,
        is_operator integer not null,
        created_at bigint not null,
        disabled_at bigint
      )`,
      sql`create table passwords (
        person_id ${uuid} primary key references people (id) on delete cascade,
        sealed_hash text not null,
        is_long integer not null,
        changed_at bigint not null
      )`,
      sql`create table passkeys (
        id ${uuid} primary key,
        person_id ${uuid} not null references people (id) on delete cascade,
        credential_id text not null unique,
        public_key text not null,
        counter bigint not null,
        transports text not null,
        name text not null,
        created_at bigint not null,
        last_used_at bigint
      )`,
      sql`create index passkeys_of_person on passkeys (person_id)`,
      sql`create table totp (
        person_id ${uuid} primary key references people (id) on delete cascade,
        sealed_secret text,
        pending_secret text,
        confirmed_at bigint,
        last_step bigint not null
      )`,
      sql`create table recovery_codes (
        person_id ${uuid} not null references people (id) on delete cascade,
        hash text not null,
        used_at bigint,
        primary key (person_id, hash)
      )`,
      sql`create table identities (
        issuer text not null,
        subject text not null,
        person_id ${uuid} not null references people (id) on delete cascade,
        created_at bigint not null,
        primary key (issuer, subject)
      )`,
      sql`create index identities_of_person on identities (person_id)`,
      sql`create table memberships (
        workspace_id ${uuid} not null references workspaces (id),
        person_id ${uuid} not null references people (id) on delete cascade,
        role text not null,
        created_at bigint not null,
        primary key (workspace_id, person_id)
      )`,
      sql`create index memberships_of_person on memberships (person_id)`,
      sql`create table sessions (
        id ${uuid} primary key,
        hash text not null unique,
        person_id ${uuid} not null references people (id) on delete cascade,
        device text not null,
        created_at bigint not null,
        authenticated_at bigint not null,
        last_seen_at bigint not null
      )`,
      sql`create index sessions_of_person on sessions (person_id)`,
      sql`create index sessions_by_use on sessions (last_seen_at)`,
      sql`create index sessions_by_age on sessions (created_at)`,
      sql`create table one_time_links (
        id ${uuid} primary key,
        hash text not null unique,
        kind text not null,
        person_id ${uuid} references people (id) on delete cascade,
        email text,
        email_folded text,
        workspace_id ${uuid} references workspaces (id),
        role text,
        created_by text,
        created_at bigint not null,
        expires_at bigint not null,
        used_at bigint
      )`,
      sql`create index one_time_links_of_workspace on one_time_links (workspace_id)`,
      sql`create index one_time_links_of_person on one_time_links (person_id)`,
      sql`create index one_time_links_by_expiry on one_time_links (expires_at)`,
      sql`create table used_challenges (
        hash text primary key,
        expires_at bigint not null
      )`,
      sql`create index used_challenges_by_expiry on used_challenges (expires_at)`,
      sql`alter table tokens add column created_by ${uuid}`,
      sql`alter table workspaces add column deleted_at bigint`,
      sql`alter table workspaces add column removed_at bigint`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
