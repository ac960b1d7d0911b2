import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Endpoints, the events that wait for them, and what became of each attempt. */
export const webhooks: Migration = {
  name: 'webhooks',
  // Programs that do not know of them send nothing; the events wait for one that does.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const sequence = sql.raw(types.sequence)
    const bytewise = sql.raw(types.bytewiseText)
    await sql`create table webhooks (
      id ${uuid} primary key,
      workspace_id ${uuid} not null references workspaces (id),
      name text not null,
      url text not null,
      events text not null,
      domains text not null,
      tags text not null,
      is_ordered integer not null,
      sealed_secret text not null,
      secret_hint text not null,
      old_sealed_secret text,
      old_secret_hint text,
      old_secret_until bigint,
      disabled_at bigint,
      disabled_reason text,
      created_at bigint not null,
      updated_at bigint not null
    )`.execute(db)
    await sql`create index webhooks_by_workspace on webhooks (workspace_id, created_at)`.execute(db)
    // Apart from the rows above: they change with each delivery.
    await sql`create table webhook_queues (
      webhook_id ${uuid} primary key,
      workspace_id ${uuid} not null,
      next_at bigint,
      failures integer not null,
      failing_since bigint,
      fault text,
      fault_status integer,
      clicked_at bigint not null,
      fence bigint not null,
      lease_holder text,
      lease_until bigint
    )`.execute(db)
    await sql`create index webhook_queues_due on webhook_queues (next_at, workspace_id)
      where next_at is not null`.execute(db)
    await sql`create index webhook_queues_by_workspace on webhook_queues (workspace_id, next_at)
      where next_at is not null`.execute(db)
    await sql`create table webhook_messages (
      number ${sequence},
      webhook_id ${uuid} not null,
      message_id ${bytewise} not null,
      event text not null,
      is_clicks integer not null,
      at bigint not null,
      summary text,
      body text not null,
      tries integer not null,
      next_at bigint,
      delivered_at bigint,
      queued_at bigint not null,
      unique (webhook_id, message_id)
    )`.execute(db)
    await sql`create index webhook_messages_due on webhook_messages (webhook_id, is_clicks, next_at)
      where next_at is not null`.execute(db)
    await sql`create index webhook_messages_waiting on webhook_messages (webhook_id, number)
      where next_at is not null`.execute(db)
    await sql`create index webhook_messages_by_age on webhook_messages (queued_at)`.execute(db)
    await sql`create table webhook_attempts (
      number ${sequence},
      webhook_id ${uuid} not null,
      message_id ${bytewise} not null,
      event text not null,
      try integer not null,
      at bigint not null,
      took_ms integer not null,
      status integer,
      fault text,
      url text not null,
      request_headers text not null,
      response_headers text,
      response_body text
    )`.execute(db)
    await sql`create index webhook_attempts_by_webhook on webhook_attempts (webhook_id, number)`.execute(
      db,
    )
    await sql`create index webhook_attempts_failed on webhook_attempts (webhook_id, number)
      where fault is not null`.execute(db)
    await sql`create index webhook_attempts_by_age on webhook_attempts (at)`.execute(db)
    await sql`create table webhook_tallies (
      webhook_id ${uuid} not null,
      half_day integer not null,
      delivered bigint not null,
      failed bigint not null,
      primary key (webhook_id, half_day)
    )`.execute(db)
    await sql`create table webhook_replays (
      webhook_id ${uuid} primary key,
      from_micros bigint not null,
      to_micros bigint not null,
      events text not null,
      only_undelivered integer not null,
      after_at bigint not null,
      after_sequence bigint not null,
      queued bigint not null,
      done_at bigint,
      revision bigint not null
    )`.execute(db)
    await sql`create table webhook_cursors (
      feed text primary key,
      position text not null,
      revision bigint not null
    )`.execute(db)
  },
}
