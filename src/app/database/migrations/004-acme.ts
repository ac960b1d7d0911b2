import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const acme: Migration = {
  name: 'acme',
  servedFrom: 1,
  async up(db) {
    const statements = [
      sql`create table certificate_orders (
        host text primary key,
        attempts integer not null,
        next_at bigint not null,
        failure text,
        directory text,
        purpose text,
        private_key text,
        order_url text,
        challenge_type text,
        challenge_token text,
        challenge_answer text,
        fence bigint not null,
        lease_until bigint
      )`,
      sql`create index certificate_orders_due on certificate_orders (next_at, host)`,
      sql`create table acme_accounts (
        directory text primary key,
        private_key text not null,
        url text,
        failures integer not null,
        paused_until bigint not null,
        failure text,
        challenge text,
        created_at bigint not null
      )`,
      sql`create table acme_budgets (
        directory text not null,
        subject text not null,
        spent_until bigint not null,
        primary key (directory, subject)
      )`,
      sql`create index acme_budgets_spent on acme_budgets (spent_until)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
