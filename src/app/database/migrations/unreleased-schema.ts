import { type Kysely, PostgresAdapter, sql, type TableMetadata } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'

/** Thrown when the database was created by a version of the program that was never released. */
export class UnreleasedSchema extends Error {
  override readonly name = 'UnreleasedSchema'

  constructor() {
    super(
      'The database was created by a version of Terse from 20 or 21 November 2026, before the first schema was ' +
        'final, and cannot be upgraded. Start with an empty data folder or database. To keep its links, run the ' +
        'version that created it, read them from GET /api/v1/links, and create them in the new instance. Nothing was changed.',
    )
  }
}

/**
 * Refuses a database whose schema dates from before the first five migrations were final. The last
 * edit to them removed the reference from `link_tags` to `links`, shortly after `schema_migrations`
 * got its column `served_from`. So every earlier schema lacks that column or has that reference,
 * and no later one does.
 *
 * @throws {UnreleasedSchema}
 */
export async function refuseUnreleased(
  db: Kysely<Schema>,
  tables: readonly TableMetadata[],
): Promise<void> {
  const table = tables.find(({ name }) => name === 'schema_migrations')
  if (table === undefined) return
  if (!table.columns.some(({ name }) => name === 'served_from')) throw new UnreleasedSchema()
  if (!tables.some(({ name }) => name === 'link_tags')) return
  const references =
    db.getExecutor().adapter instanceof PostgresAdapter
      ? sql`select from pg_constraint where conrelid = 'link_tags'::regclass and contype = 'f'`
      : sql`select 1 from pragma_foreign_key_list('link_tags')`
  const { rows } = await references.execute(db)
  if (rows.length > 0) throw new UnreleasedSchema()
}
