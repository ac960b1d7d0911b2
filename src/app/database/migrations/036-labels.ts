import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/**
 * Labels of visits. On SQLite each day's file gets the new column when it is opened
 * (clicks/store/sqlite/raw-click-files.ts).
 */
export const labels: Migration = {
  name: 'labels',
  // As in `clickRules`: programs that do not know of labels store clicks without them.
  servedFrom: 1,
  servedFromOnFiles: 36,
  async up(db, types, clicks) {
    const uuid = sql.raw(types.uuid)
    await sql`create table label_settings (
      workspace_id ${uuid} primary key,
      parameter text,
      labels text not null
    )`.execute(db)
    // A workspace without a row reads labels from "via". Existing ones start without labels, but for those whose rules
    // ask for the label: these have read it from "via" so far.
    await sql`insert into label_settings (workspace_id, parameter, labels)
      select id, null, '[]' from workspaces
      where id not in (select workspace_id from links where rules like '%"label":%')`.execute(db)
    await sql`create table if not exists known_labels (
      workspace_id ${uuid} not null,
      label ${sql.raw(types.bytewiseText)} not null,
      day integer not null,
      primary key (workspace_id, label)
    )`.execute(clicks)
    for (const statement of types.rawClickLabels) await sql.raw(statement).execute(clicks)
  },
}
