import { readdirSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Place } from './engines.ts'

/** Returns in which tables, of all files of a place, a text stands in any column. */
export function findText(place: Place, text: string): Promise<readonly string[]> {
  return place.databaseUrl === undefined
    ? Promise.resolve(findInFiles(place.dataDir, text))
    : findInDatabase(place.databaseUrl, text)
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
    readdirSync(path.join(dataDir, folder))
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
