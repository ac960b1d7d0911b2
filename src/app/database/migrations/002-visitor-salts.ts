import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

export const visitorSalts: Migration = {
  name: 'visitor-salts',
  servedFrom: 1,
  async up(db) {
    await sql`create table visitor_salts (day bigint primary key, salt text not null)`.execute(db)
  },
}
