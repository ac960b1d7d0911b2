import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Which links a dry run of an import would take, and with how many clicks. */
export const dryRunClicks: Migration = {
  name: 'dry-run-clicks',
  servedFrom: 1,
  async up(db, types) {
    const statements = [
      sql`create table dry_run_clicks (
        import_id ${sql.raw(types.uuid)} not null references imports (id) on delete cascade,
        ref ${sql.raw(types.bytewiseText)} not null,
        clicks bigint not null
      )`,
      sql`create index dry_run_clicks_of_ref on dry_run_clicks (import_id, ref)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
