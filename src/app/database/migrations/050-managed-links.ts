import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Which set of links as code manages what, since when, and which links must not be deleted. */
export const managedLinks: Migration = {
  name: 'managed-links',
  // Programs that do not know of them keep the marks, and delete every link.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const text = sql.raw(types.bytewiseText)
    for (const table of ['links', 'domain_settings', 'rule_sets', 'utm_templates']) {
      await sql`alter table ${sql.table(table)} add column managed_by ${text}`.execute(db)
      await sql`alter table ${sql.table(table)} add column managed_at bigint`.execute(db)
    }
    await sql`alter table links add column prevent_delete integer not null default 0`.execute(db)
    // Links without a set, which are most, have no entry.
    await sql`create index links_by_set on links (workspace_id, managed_by, seq)
      where managed_by is not null`.execute(db)
  },
}
