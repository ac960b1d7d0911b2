import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Conversions, and which links get tokens for them. A workspace without a row of settings has those of a new one. */
export const conversions: Migration = {
  name: 'conversions',
  // Programs that do not know of them redirect without tokens.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const text = sql.raw(types.bytewiseText)
    await sql`alter table links add column track_conversions integer`.execute(db)
    await sql`alter table domain_settings add column track_conversions integer`.execute(db)
    await sql`alter table workspace_quotas add column conversions bigint`.execute(db)
    await sql`create table conversion_settings (
      workspace_id ${uuid} primary key,
      track_conversions integer not null,
      parameter text not null,
      window_days integer not null
    )`.execute(db)
    await sql`create table conversions (
      id ${uuid} not null,
      workspace_id ${uuid} not null,
      link_seq bigint not null,
      event ${text} not null,
      value bigint,
      currency ${text},
      occurred_at bigint not null,
      recorded_at bigint not null,
      clicked_at bigint not null,
      visit bigint not null,
      country ${text} not null,
      rule ${text} not null,
      variant ${text} not null,
      label ${text} not null,
      idempotency_key ${text},
      fingerprint text,
      primary key (workspace_id, id)
    )`.execute(db)
    await sql`create index conversions_by_time on conversions (workspace_id, occurred_at, id)`.execute(
      db,
    )
    // Reports of one link, and what is erased with it.
    await sql`create index conversions_by_link on conversions (link_seq, occurred_at)`.execute(db)
    await sql`create unique index conversions_by_key on conversions (workspace_id, idempotency_key)
      where idempotency_key is not null`.execute(db)
    await sql`create table conversion_counts (
      workspace_id ${uuid} primary key,
      conversions bigint not null
    )`.execute(db)
  },
}
