import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const utmTemplates: Migration = {
  name: 'utm-templates',
  servedFrom: 1,
  async up(db, types) {
    const uuid = sql.raw(types.uuid)
    await sql`create table utm_templates (
      id ${uuid} not null,
      workspace_id ${uuid} not null references workspaces (id),
      name text not null,
      name_folded ${sql.raw(types.bytewiseText)} not null,
      utm_source text,
      utm_medium text,
      utm_campaign text,
      utm_term text,
      utm_content text,
      utm_name text,
      created_at bigint not null,
      updated_at bigint not null,
      primary key (workspace_id, id),
      unique (workspace_id, name_folded)
    )`.execute(db)
  },
}
