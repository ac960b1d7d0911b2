import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const nodes: Migration = {
  name: 'nodes',
  servedFrom: 1,
  async up(db) {
    await sql`create table nodes (
      id text primary key,
      name text not null,
      process integer not null,
      version text not null,
      started_at bigint not null,
      beat_at bigint not null,
      backlog_bytes bigint not null,
      oldest_click_at bigint,
      reported_at bigint
    )`.execute(db)
  },
}
