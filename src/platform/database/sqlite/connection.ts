import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import { folderOf, translateError } from './errors.ts'

/** Compiled statements kept for reuse; the service has well under this many. */
const STATEMENTS_MAX = 200

type Prepared = { readonly statement: StatementSync; readonly returnsRows: boolean }

/** Kysely's view of one SQLite handle. Answers at once: node:sqlite is synchronous. */
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

  // biome-ignore lint/correctness/useYield: Kysely asks for the method; nothing here streams
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
