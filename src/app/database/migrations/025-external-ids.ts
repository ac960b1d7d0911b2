import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** For look-ups by `external_id`. Links without one, which are most, have no entry. */
export const externalIds: Migration = {
  name: 'external-ids',
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`create index links_by_external_id on links (workspace_id, external_id, seq)
      where external_id is not null`.execute(db)
  },
}
