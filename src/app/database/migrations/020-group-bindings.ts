import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Binds names in TERSE_OIDC_ROLES to workspaces, and notes who granted a membership. */
export const groupBindings: Migration = {
  name: 'group-bindings',
  // Programs that do not know of it add memberships without a source, which single sign-on settles later.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    const statements = [
      sql`create table group_bindings (
        name text primary key,
        workspace_id ${uuid} references workspaces (id),
        bound_at bigint not null
      )`,
      sql`create index group_bindings_of_workspace on group_bindings (workspace_id)`,
      sql`alter table memberships add column source text`,
      sql`alter table memberships add column confirmed_at bigint`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
