import type { ClickHouse } from './clickhouse.ts'

/**
 * A step of a schema. Each statement may run again, also at the same time on another node: ClickHouse has no
 * transactions. Released steps never change.
 */
export type ClickHouseMigration = { readonly name: string; readonly statements: readonly string[] }

/** Thrown when the database was migrated by a newer release. */
class NewerClickSchema extends Error {
  override readonly name = 'NewerClickSchema'
}

/**
 * Migrates the database to these steps. A step whose version is not recorded runs again from its beginning.
 *
 * @throws {NewerClickSchema} and changes nothing
 */
export async function migrateClickHouse(
  db: ClickHouse,
  migrations: readonly ClickHouseMigration[],
): Promise<void> {
  await db.command(`create table if not exists schema_migrations (
    version UInt32, name String, applied_at DateTime64(3, 'UTC') default now64(3)
  ) engine = ReplacingMergeTree order by version`)
  const version = await findClickSchema(db)
  if (version > migrations.length) {
    throw new NewerClickSchema(
      `The database of clicks has schema version ${version}; this program is for version ${migrations.length}. Start a newer release of Terse. Nothing was changed.`,
    )
  }
  for (const [index, { name, statements }] of migrations.entries()) {
    if (index < version) continue
    for (const statement of statements) await db.command(statement)
    await db.command(
      'insert into schema_migrations (version, name) select {version:UInt32}, {name:String}',
      {
        params: { version: index + 1, name },
      },
    )
  }
}

/** Returns how many steps the database has run; 0 for a database without any. Changes nothing. */
export async function findClickSchema(db: ClickHouse): Promise<number> {
  const tables = await db.rows(
    "select 1 from system.tables where database = currentDatabase() and name = 'schema_migrations'",
  )
  if (tables.length === 0) return 0
  const [found] = await db.rows<{ readonly version: number }>(
    'select max(version) as version from schema_migrations',
  )
  return found?.version ?? 0
}
