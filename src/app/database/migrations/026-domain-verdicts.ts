import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What the last check of a domain found in DNS. */
export const domainVerdicts: Migration = {
  name: 'domain-verdicts',
  // Programs that do not know of it leave the verdict of an earlier check.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table domain_checks add column verdict text`.execute(db)
  },
}
