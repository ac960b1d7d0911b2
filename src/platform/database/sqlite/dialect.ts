import {
  type DatabaseConnection,
  type Kysely,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { kyselyOn } from '../direct-kysely.ts'
import type { Schema } from '../schema.ts'

/**
 * Returns Kysely over a SQLite connection. Writes go through `GroupCommit`, which manages the
 * transaction.
 */
export function kyselyOver(connection: DatabaseConnection): Kysely<Schema> {
  return kyselyOn(connection, {
    adapter: new SqliteAdapter(),
    compiler: new SqliteQueryCompiler(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  })
}
