import { open } from 'node:fs/promises'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { hasLog, openToRead } from '../../storage/sqlite/connection.ts'
import { ImportSourceFault } from '../import-source.ts'
import { checkSourceFile } from './source-file.ts'

/** Another process may be writing. */
const TIMEOUT_MS = 5_000
/** No value of a link is longer. */
const VALUE_BYTES_MAX = 1024 * 1024

/** A table that a database must have. */
export type NeededTable = {
  readonly name: string
  readonly columns: readonly string[]
  /** Whether its rows have only the numbers of SQLite, and no column `id` for them. */
  readonly isUnnumbered?: true
}

/**
 * Opens the SQLite database of another service, which may be writing: no writer ever waits for the import. A file
 * may come from anybody, and a query of it must not run what the file says: so each table must be a plain one whose
 * rows are in the order of their numbers, and no value may be large.
 *
 * @throws {ImportSourceFault} when the file is no database, or lacks a table or a column
 */
export async function openSourceDatabase(
  file: string,
  tables: readonly NeededTable[],
  service: string,
): Promise<DatabaseSync> {
  await checkSourceFile(file)
  const isLogged = await usesLog(file)
  return guardSqlite(() => {
    // A database whose write-ahead log is missing has no writer, and can be read without making a
    // file beside it.
    const database =
      isLogged && !hasLog(file)
        ? openToRead(file, TIMEOUT_MS)
        : new DatabaseSync(file, { readOnly: true, timeout: TIMEOUT_MS })
    try {
      database.limits.length = VALUE_BYTES_MAX
      database.exec('pragma trusted_schema = off; pragma cell_size_check = on')
      for (const table of tables) checkTable(database, table, service)
      // Reads all pages from one view. Without a log that would keep the other service from writing.
      if (isLogged) database.exec('begin')
    } catch (error) {
      database.close()
      throw error
    }
    return database
  })
}

/** Where the header has the version of the format that writers use: https://www.sqlite.org/fileformat2.html */
const WRITE_VERSION_AT = 18
const WRITE_AHEAD_LOG = 2

async function usesLog(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, WRITE_VERSION_AT)
    return buffer[0] === WRITE_AHEAD_LOG
  } finally {
    await handle.close()
  }
}

/** Returns which columns a table has. */
export function columnsOf(database: DatabaseSync, table: string): ReadonlySet<string> {
  const rows = database.prepare('select name from pragma_table_info(?)').all(table)
  return new Set(rows.map(({ name }) => String(name)))
}

const SQLITE_BUSY = 5
const SQLITE_TOOBIG = 18

/** A row with a value that cannot be read: too long a one, or a number of 64 bits in a column of small ones. */
export type UnreadableRow = { readonly id: number; readonly unreadable: string }

/**
 * Reads a page of a table's rows in the order of their ids. One value that cannot be read costs its row.
 *
 * @param query takes the id after which the page begins, and how many rows it has
 * @throws {ImportSourceFault} when the database is damaged or busy
 */
export function readSourceRows<Row extends object>(
  database: DatabaseSync,
  table: string,
  query: StatementSync,
  {
    afterId,
    limit,
    idColumn = 'id',
  }: { readonly afterId: number; readonly limit: number; readonly idColumn?: 'id' | 'rowid' },
): readonly (Row | UnreadableRow)[] {
  return guardSqlite(() => {
    try {
      return query.all(afterId, limit) as Row[]
    } catch (error) {
      if (reasonOfValue(error) === undefined) throw error
    }
    const ids = database.prepare(
      `select ${idColumn} as id from ${table} where ${idColumn} > ? order by ${idColumn} limit ?`,
    )
    return ids.all(afterId, limit).map((row) => {
      const id = Number(row.id)
      try {
        return query.get(id - 1, 1) as Row
      } catch (error) {
        const unreadable = reasonOfValue(error)
        if (unreadable === undefined) throw error
        return { id, unreadable }
      }
    })
  })
}

export function isUnreadable(row: object): row is UnreadableRow {
  return 'unreadable' in row
}

/** Why one value cannot be read, as a sentence; undefined for any other error. */
function reasonOfValue(error: unknown): string | undefined {
  const { code, errcode } = error as { code?: string; errcode?: number }
  if (code === 'ERR_OUT_OF_RANGE') return 'It has a number of more than 2^53.'
  const isTooBig = code === 'ERR_SQLITE_ERROR' && errcode === SQLITE_TOOBIG
  return isTooBig ? 'It has a value of more than 1 MiB.' : undefined
}

/** Runs queries. @throws {ImportSourceFault} when the database is damaged or busy */
export function guardSqlite<T>(query: () => T): T {
  try {
    return query()
  } catch (error) {
    const { code, errcode, message } = error as Error & { code?: string; errcode?: number }
    if (code !== 'ERR_SQLITE_ERROR') throw error
    throw new ImportSourceFault(`The database cannot be read: ${message}.`, {
      isTransient: ((errcode ?? 0) & 0xff) === SQLITE_BUSY,
      cause: error,
    })
  }
}

/** What keeps a table from being read in the order of its ids without running anything else. */
const TABLE_TRAITS = `
  select type, wr as has_no_rowid,
    (select count(*) from pragma_table_xinfo(?1) where hidden <> 0) as computed_columns,
    (select count(*) from pragma_table_info(?1)
      where pk = 1 and name = 'id' and type = 'INTEGER' collate nocase) as row_ids
  from pragma_table_list where schema = 'main' and name = ?1`

function checkTable(
  database: DatabaseSync,
  { name, columns, isUnnumbered }: NeededTable,
  service: string,
): void {
  const traits = database.prepare(TABLE_TRAITS).get(name)
  const existing = columnsOf(database, name)
  const missing = columns.filter((column) => !existing.has(column))
  const isPlain = traits?.type === 'table' && traits.has_no_rowid === 0
  let lacks: string
  if (traits === undefined) lacks = `it has no table ${name}`
  else if (missing.length > 0) lacks = `${name} has no ${missing.join(', ')}`
  else if (!isPlain || traits.computed_columns !== 0) lacks = `${name} is not a plain table`
  else if (isUnnumbered ? existing.has('rowid') : traits.row_ids !== 1)
    lacks = `${name} has no primary key "id"`
  else return
  throw new ImportSourceFault(`This is no database of ${service}: ${lacks}.`, {
    isTransient: false,
  })
}
