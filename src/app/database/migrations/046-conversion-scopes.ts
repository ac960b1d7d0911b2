import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * Gives the new scopes to tokens that have every scope of before: their makers held nothing back. A token with fewer gains
 * nothing, and then gives no role, as each role may do more than it.
 */
export const conversionScopes: Migration = {
  name: 'conversion-scopes',
  // Programs that do not know a scope leave it out.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`update tokens set scopes = scopes || ' conversions:read conversions:write'
      where scopes like '%links:read%' and scopes like '%links:write%'
        and scopes like '%domains:read%' and scopes like '%domains:write%'
        and scopes like '%clicks:read%' and scopes like '%workspace:admin%'`.execute(db)
  },
}
