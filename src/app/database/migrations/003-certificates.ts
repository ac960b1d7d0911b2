import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const certificates: Migration = {
  name: 'certificates',
  servedFrom: 1,
  async up(db, types) {
    const statements = [
      sql`create table certificates (
        host text primary key,
        chain text not null,
        private_key text not null,
        not_before bigint not null,
        not_after bigint not null,
        directory text not null,
        ari_id text,
        renewal_start bigint,
        renewal_end bigint,
        created_at bigint not null,
        updated_at bigint not null
      )`,
      sql`create index certificates_by_end on certificates (not_after, host)`,
      sql`create table domain_hsts (
        domain_id ${sql.raw(types.uuid)} primary key references domains (id) on delete cascade,
        max_age bigint not null
      )`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
