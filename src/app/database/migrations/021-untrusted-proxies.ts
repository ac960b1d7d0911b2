import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const untrustedProxies: Migration = {
  name: 'untrusted-proxies',
  servedFrom: 1,
  async up(db) {
    await sql`alter table nodes add column untrusted_proxy text`.execute(db)
  },
}
