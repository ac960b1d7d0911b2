import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const importAttempts: Migration = {
  name: 'import-attempts',
  // Programs that do not know of it lease an import whose process crashes without limit, as before.
  servedFrom: 1,
  async up(db) {
    await sql`alter table imports add column attempts bigint not null default 0`.execute(db)
    await sql`alter table imports add column leased_at bigint`.execute(db)
  },
}
