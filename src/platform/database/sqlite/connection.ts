import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
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
