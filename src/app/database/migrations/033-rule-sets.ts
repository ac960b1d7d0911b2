import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Rules with a name, as JSON, which links use beside their own. */
export const ruleSets: Migration = {
  name: 'rule-sets',
  // Programs that do not know of them send visitors by the rules of the link itself.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table rule_sets (
      id ${uuid} not null,
      workspace_id ${uuid} not null references workspaces (id),
      name text not null,
      name_folded ${sql.raw(types.bytewiseText)} not null,
      rules text not null,
      created_at bigint not null,
      updated_at bigint not null,
      primary key (workspace_id, id),
      unique (workspace_id, name_folded)
    )`.execute(db)
    await sql`alter table links add column rule_set ${uuid}`.execute(db)
    // A set that is used is not deleted. Links without one, which are most, have no entry.
    await sql`create index links_by_rule_set on links (workspace_id, rule_set, seq)
      where rule_set is not null`.execute(db)
  },
}
