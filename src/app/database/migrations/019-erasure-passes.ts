import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const erasurePasses: Migration = {
  name: 'erasure-passes',
  // Programs that do not know of it look through the events once, as before.
  servedFrom: 1,
  async up(db) {
    await sql`alter table deleted_people add column events_pass text`.execute(db)
  },
}
