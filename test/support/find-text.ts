import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { openClickDatabase } from '../../src/clicks/store/clickhouse/click-database.ts'
import type { ClickHouse } from '../../src/storage/clickhouse/clickhouse.ts'
import { PATIENCE_MS, type Place } from './engines.ts'

/** Returns in which tables, of all files and databases of a place, a text stands in any column. */
export async function findText(place: Place, text: string): Promise<readonly string[]> {
  const found =
    place.databaseUrl === undefined
      ? findInFiles(place.dataDir, text)
      : await findInDatabase(place.databaseUrl, text)
  return [...found, ...(await findInClickHouse(place, text))]
}

/** Does something with the database of clicks of a place, if it has one. */
export async function withClickHouse<T>(
  { clicks }: Place,
  work: (db: ClickHouse) => Promise<T>,
): Promise<T | undefined> {
  if (clicks === undefined) return undefined
  const db = openClickDatabase(clicks, { timeoutMs: PATIENCE_MS, connectionsMax: 4 })
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** The columns of all tables of ClickHouse that keep rows. */
export async function listClickColumns(
  place: Place,
): Promise<readonly { readonly table: string; readonly column: string }[]> {
  const found = await withClickHouse(place, (db) =>
    db.rows<{ table: string; column: string }>(
      `select table, name as column from system.columns
      where database = currentDatabase() and table in (
        select name from system.tables where database = currentDatabase() and has_own_data = 1)`,
    ),
  )
  return found ?? []
}

async function findInClickHouse(place: Place, text: string): Promise<string[]> {
  const tables = new Set((await listClickColumns(place)).map(({ table }) => table))
  const found = await withClickHouse(place, async (db) => {
    const contain = async (table: string) => {
      const rows = await db.rows(`select * from ${table}`)
      return rows.some((row) => JSON.stringify(row).includes(text)) ? [table] : []
    }
    return (await Promise.all([...tables].map(contain))).flat()
  })
  return found ?? []
}

/** The columns of all tables, in all files of a place. */
export async function listColumns(
  place: Place,
): Promise<readonly { readonly table: string; readonly column: string }[]> {
  if (place.databaseUrl === undefined) {
    return filesOf(place.dataDir).flatMap((file) => {
      const database = new DatabaseSync(path.join(place.dataDir, file), { readOnly: true })
      try {
        const rows = database
          .prepare(`select m.name as name, c.name as column from sqlite_schema m
            join pragma_table_info(m.name) c where m.type = 'table'`)
          .all()
        return rows.map(({ name, column }) => ({ table: String(name), column: String(column) }))
      } finally {
        database.close()
      }
    })
  }
  const client = new pg.Client(place.databaseUrl)
  await client.connect()
  try {
    const { rows } = await client.query<{ table: string; column: string }>(`
      select relname as table, attname as column from pg_class
      join pg_attribute on attrelid = pg_class.oid and attnum > 0
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`)
    return rows
  } finally {
    await client.end()
  }
}

function filesOf(dataDir: string): string[] {
  return ['', 'clicks'].flatMap((folder) =>
    // The second is missing where clicks are in ClickHouse.
    (existsSync(path.join(dataDir, folder)) ? readdirSync(path.join(dataDir, folder)) : [])
      .filter((name) => name.endsWith('.db'))
      .map((name) => path.join(folder, name)),
  )
}

function findInFiles(dataDir: string, text: string): string[] {
  return filesOf(dataDir).flatMap((file) => {
    const database = new DatabaseSync(path.join(dataDir, file), { readOnly: true, timeout: 5_000 })
    try {
      const tables = database
        .prepare(`select name from sqlite_schema where type = 'table'`)
        .all()
        .map(({ name }) => String(name))
      return tables
        .filter((table) =>
          database
            .prepare(`select * from "${table}"`)
            .all()
            .some((row) => Object.values(row).some((value) => textOf(value).includes(text))),
        )
        .map((table) => `${file} ${table}`)
    } finally {
      database.close()
    }
  })
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}

async function findInDatabase(url: string, text: string): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(`select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') order by 1`)
    const found: string[] = []
    for (const { name } of rows) {
      const query = `select 1 from "${name}" t where position($1 in t::text) > 0 limit 1`
      if ((await client.query(query, [text])).rows.length > 0) found.push(name)
    }
    return found
  } finally {
    await client.end()
  }
}
