import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** Leaves the creation of links, which is most of the log, out of the index of subjects. */
export const eventSubjects: Migration = {
  name: 'event-subjects',
  servedFrom: 1,
  async up(db) {
    const statements = [
      sql`drop index events_of_subject`,
      sql`create index events_of_subject on events (workspace_id, subject_id, at, id)
        where type <> 'link.created'`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
