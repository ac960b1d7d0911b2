import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** What a domain does besides its links. A domain without a row has the settings of a new one. */
export const domainSettings: Migration = {
  name: 'domain-settings',
  // Programs that do not know of them answer as if no domain had any.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table domain_settings (
      domain_id ${uuid} primary key references domains (id) on delete cascade,
      workspace_id ${uuid} not null,
      root_url text,
      robots text,
      utm text,
      rule_set ${uuid},
      apple_app_site_association text,
      assetlinks text,
      updated_at bigint not null
    )`.execute(db)
    // A rule set that is the default of a domain is not deleted.
    await sql`create index domain_settings_by_rule_set on domain_settings (workspace_id, rule_set)
      where rule_set is not null`.execute(db)
  },
}
