import {
  type DatabaseConnection,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { kyselyOn } from '../direct-kysely.ts'
import type { Schema } from '../schema.ts'

/** Writes go through the group commit, which holds the transaction itself. */
export function kyselyOver(connection: DatabaseConnection): Kysely<Schema> {
  return kyselyOn(connection, {
    adapter: new SqliteAdapter(),
    compiler: new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  })
}
