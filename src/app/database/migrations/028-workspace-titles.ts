import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** The name of a workspace in any letters. Null where it has none but that of programs. */
export const workspaceTitles: Migration = {
  name: 'workspace-titles',
  servedFrom: 1,
  servedFromOnFiles: 18,
  async up(db) {
    await sql`alter table workspaces add column title text`.execute(db)
  },
}
