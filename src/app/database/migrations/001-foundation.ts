import { sql } from 'kysely'
import type { ColumnTypes, Migration } from '../../../storage/migration.ts'

export const foundation: Migration = {
  name: 'foundation',
  servedFrom: 1,
  async up(db, types, clicks) {
    const uuid = sql.raw(types.uuid)
    const sequence = sql.raw(types.sequence)
    const bytewise = sql.raw(types.bytewiseText)
    const statements = [
      sql`create table instance (name text primary key, value text not null)`,
      sql`create table workspaces (
        id ${uuid} primary key,
        name text not null unique,
        created_at bigint not null
      )`,
      sql`create table tokens (
        id ${uuid} primary key,
        workspace_id ${uuid} not null references workspaces (id),
        name text not null,
        hash text not null unique,
        scopes text not null,
        created_at bigint not null,
        expires_at bigint,
        last_used_at bigint,
        revoked_at bigint
      )`,
      sql`create index tokens_of_workspace on tokens (workspace_id)`,
      sql`create table keyspaces (
        id ${sequence},
        workspace_id ${uuid} references workspaces (id),
        host text not null,
        unique (workspace_id, host)
      )`,
      // A unique constraint treats nulls as distinct, so the shared keyspace needs its own index.
      sql`create unique index keyspaces_shared on keyspaces ((1)) where workspace_id is null`,
      sql`create table domains (
        id ${uuid} primary key,
        workspace_id ${uuid} not null references workspaces (id),
        host text not null,
        status text not null check (status in ('pending', 'active')),
        not_found_url text,
        expired_url text,
        created_at bigint not null,
        updated_at bigint not null,
        unique (workspace_id, host)
      )`,
      sql`create unique index domains_active_host on domains (host) where status = 'active'`,
      sql`create index domains_pending on domains (id) where status = 'pending'`,
      sql`create index domains_pending_host on domains (host) where status = 'pending'`,
      sql`create table domain_checks (
        domain_id ${uuid} primary key references domains (id) on delete cascade,
        since bigint not null,
        attempts integer not null,
        next_at bigint,
        missing_since bigint,
        checked_at bigint,
        demanded_at bigint,
        fence bigint not null,
        lease_until bigint
      )`,
      sql`create index domain_checks_due on domain_checks (next_at) where next_at is not null`,
      sql`create table links (
        seq ${sql.raw(types.linkSequence)},
        id ${uuid} not null,
        workspace_id ${uuid} not null references workspaces (id),
        keyspace_id bigint not null references keyspaces (id),
        key ${bytewise} not null,
        key_folded ${bytewise} not null,
        url text not null,
        ios text,
        android text,
        utm_source text,
        utm_medium text,
        utm_campaign text,
        utm_term text,
        utm_content text,
        utm_name text,
        external_id bigint,
        password text,
        expires_at text,
        expired_redirect_url text,
        tags text not null,
        created_at bigint not null,
        updated_at bigint not null,
        unique (keyspace_id, key_folded, key),
        ${sql.raw(types.linkConstraints)}
      )`,
      sql`create index links_of_workspace on links (workspace_id, seq)`,
      sql`create table link_buckets (
        workspace_id ${uuid} not null,
        bucket bigint not null,
        links bigint not null,
        primary key (workspace_id, bucket)
      )`,
      sql`create table link_tags (
        workspace_id ${uuid} not null,
        tag text not null,
        tag_folded text not null,
        link_seq bigint not null,
        primary key (workspace_id, tag, link_seq)
      )`,
      sql`create index link_tags_of_link on link_tags (link_seq)`,
      sql`create table changes (
        id ${sequence},
        at bigint not null,
        kind text not null,
        subject text not null
        ${sql.raw(types.changeLogExtra)}
      )`,
      ...types.changeLogIndexes.map((statement) => sql.raw(statement)),
      sql`create table idempotency (
        workspace_id ${uuid} not null,
        idempotency_key text not null,
        fingerprint text not null,
        result text not null,
        created_at bigint not null,
        primary key (workspace_id, idempotency_key)
      )`,
      sql`create index idempotency_created_at on idempotency (created_at)`,
    ]
    for (const statement of statements) await statement.execute(db)
    for (const statement of clickTables(types)) await statement.execute(clicks)
  },
}

/**
 * Idempotent: when the tables are in a separate file, a killed process may already have created
 * some.
 */
function clickTables(types: ColumnTypes) {
  const day = sql`
    day integer not null,
    scope smallint not null,
    subject bigint not null,
    workspace_id text not null`
  return [
    sql`create table if not exists journal_positions (
      journal_id text primary key,
      segment bigint not null,
      position bigint not null,
      updated_at bigint not null
    )`,
    sql`create table if not exists link_clicks (
      link_seq ${sql.raw(types.number)} primary key,
      clicks bigint not null,
      last_click bigint not null
    )`,
    // The day comes first, so that rows written together are stored together.
    sql`create table if not exists click_days (
      ${day},
      part smallint not null,
      folded integer not null,
      parts integer not null,
      data ${sql.raw(types.bytes)} not null,
      primary key (day, scope, subject, workspace_id, part)
    )`,
    sql`create table if not exists unsettled_days (
      ${day},
      primary key (day, scope, subject, workspace_id)
    )`,
    ...types.clickExtras.map((statement) => sql.raw(statement)),
  ]
}
