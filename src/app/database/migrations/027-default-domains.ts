import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** The domain on which new links of a workspace start. */
export const defaultDomains: Migration = {
  name: 'default-domains',
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table default_domains (
      workspace_id ${uuid} primary key,
      domain_id ${uuid} not null references domains (id) on delete cascade
    )`.execute(db)
    // A deletion of a domain looks here for what refers to it.
    await sql`create index default_domains_by_domain on default_domains (domain_id)`.execute(db)
  },
}
