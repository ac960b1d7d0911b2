import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Which APIs of other services a workspace has switched on, and secrets that timed signatures are checked with. */
export const compat: Migration = {
  name: 'compat',
  // Programs that do not know of them answer for no other service.
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table compat_settings (
      workspace_id ${uuid} not null,
      service text not null,
      primary key (workspace_id, service)
    )`.execute(db)
    await sql`create table compat_secrets (
      token_id ${uuid} primary key references tokens (id) on delete cascade,
      sealed text not null
    )`.execute(db)
  },
}
