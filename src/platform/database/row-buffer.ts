import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { statement } from './statement.ts'

/** The maximum number of rows of one insert. Each number of rows has its own compiled statement. */
const INSERT_ROWS_MAX = 32

type Value = number | string | null
type Insert = (db: Kysely<Schema>, values: readonly Value[]) => CompiledQuery

/** Compiled multi-row inserts into a table, one for each number of rows up to `INSERT_ROWS_MAX`. */
export class RowInserts<T extends Readonly<Record<keyof T, Value>>> {
  readonly #columns: readonly (keyof T & string)[]
  readonly #inserts: readonly Insert[]

  constructor(table: 'changes' | 'events', columns: readonly (keyof T & string)[]) {
    this.#columns = columns
    this.#inserts = Array.from({ length: INSERT_ROWS_MAX }, (_, index) => {
      const rows = Array.from({ length: index + 1 }, (_, row) => row * columns.length)
      const insert = statement((db, values: readonly Value[]) =>
        db
          .insertInto(table)
          .values(
            rows.map(
              (start) =>
                Object.fromEntries(
                  columns.map((column, place) => [column, values[start + place]]),
                ) as never,
            ),
          ),
      )
      return (db, values) => insert.query(db, values)
    })
  }

  /** Returns the statements that insert the rows, in order. */
  queries(db: Kysely<Schema>, rows: readonly T[]): CompiledQuery[] {
    const queries: CompiledQuery[] = []
    for (let start = 0; start < rows.length; start += INSERT_ROWS_MAX) {
      const some = rows.slice(start, start + INSERT_ROWS_MAX)
      const values = some.flatMap((row) => this.#columns.map((column): Value => row[column]))
      const query = this.#inserts[some.length - 1]?.(db, values)
      if (query !== undefined) queries.push(query)
    }
    return queries
  }
}

/** Rows of one table that a transaction inserts just before its commit. */
export class RowBuffer<T extends Readonly<Record<keyof T, Value>>> {
  readonly #inserts: RowInserts<T>
  #rows: T[] = []
  #written = 0

  constructor(inserts: RowInserts<T>) {
    this.#inserts = inserts
  }

  get count(): number {
    return this.#rows.length
  }

  add(row: T): void {
    this.#rows.push(row)
  }

  /** Returns the statements that insert the rows added since the last call. */
  take(db: Kysely<Schema>): CompiledQuery[] {
    if (this.#written === this.#rows.length) return []
    const queries = this.#inserts.queries(db, this.#rows.slice(this.#written))
    this.#written = this.#rows.length
    return queries
  }

  /** Keeps the first `count` rows, which `take` must have returned already, and discards the rest. */
  undoTo(count: number): void {
    this.#rows.length = count
    this.#written = count
  }

  /** Clears the buffer and returns its rows. */
  empty(): readonly T[] {
    const rows = this.#rows
    this.#rows = []
    this.#written = 0
    return rows
  }
}
