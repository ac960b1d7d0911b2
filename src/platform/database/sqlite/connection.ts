import { existsSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Schema } from '../schema.ts'
import { kyselyOn } from '../statement.ts'
import { folderOf, translateError } from './errors.ts'

/** The maximum number of cached statements; the service uses far fewer. */
const STATEMENTS_MAX = 200

type Prepared = { readonly statement: StatementSync; readonly returnsRows: boolean }

/** Adapts one SQLite handle to Kysely. Queries run synchronously, as node:sqlite does. */
export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  readonly #folder: string
  readonly #prepared = new Map<string, Prepared>()

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#folder = folderOf(database)
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const parameters = query.parameters as SQLInputValue[]
    try {
      const { statement, returnsRows } = this.#prepare(query.sql)
      if (returnsRows) return { rows: statement.all(...parameters) as R[] }
      const { changes, lastInsertRowid } = statement.run(...parameters)
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
    } catch (error) {
      throw translateError(error, this.#folder)
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method; streaming is not supported
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('SQLite queries are not streamed')
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      if (this.#prepared.size >= STATEMENTS_MAX) this.#prepared.clear()
      const statement = this.#database.prepare(sql)
      prepared = { statement, returnsRows: statement.columns().length > 0 }
      this.#prepared.set(sql, prepared)
    }
    return prepared
  }
}

/**
 * Opens a database file read-only without creating files beside it. Without a write-ahead log the
 * file is complete, and it is opened as immutable.
 */
export function openToRead(file: string, timeoutMs: number): DatabaseSync {
  const location = pathToFileURL(file)
  if (!hasLog(file)) location.searchParams.set('immutable', '1')
  return new DatabaseSync(location, { readOnly: true, timeout: timeoutMs })
}

/** Whether the file has a write-ahead log, which may hold newer data. */
export function hasLog(file: string): boolean {
  return existsSync(`${file}-wal`)
}

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
