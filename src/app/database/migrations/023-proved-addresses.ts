import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Notes which people have proved their address, and which codes of one-time links were mailed. */
export const provedAddresses: Migration = {
  name: 'proved-addresses',
  // Programs that do not know of it add people who have not proved their address, and mail codes that prove nothing.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    const statements = [
      sql`alter table people add column email_proved_at bigint`,
      sql`alter table one_time_links add column mailed_hash text`,
      sql`create unique index one_time_links_by_mailed_hash on one_time_links (mailed_hash)`,
      sql`alter table passkeys add column needs_password integer not null default 0`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
