import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * Members may see conversions and report them, and a token gives no role that may do more than it: tokens that could invite
 * members before can still do it.
 */
export const conversionScopes: Migration = {
  name: 'conversion-scopes',
  // Programs that do not know a scope leave it out.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`update tokens set scopes = scopes || ' conversions:read conversions:write'
      where scopes like '%workspace:admin%' and scopes like '%clicks:read%'
        and scopes like '%links:write%'`.execute(db)
  },
}
