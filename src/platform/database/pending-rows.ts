import type { CompiledQuery, Kysely } from 'kysely'
import type { Schema } from './schema.ts'
import { statement } from './statement.ts'

/** Rows of one insert at most; for each number of rows a statement is compiled once. */
const INSERT_ROWS_MAX = 32

type Value = number | string | null
type Insert = (db: Kysely<Schema>, values: readonly Value[]) => CompiledQuery

/** Inserts of 1, 2, … rows into a table; their parameters are the rows' values, one row after the other. */
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

  /** The statements that insert the rows, in their order. */
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

/** Rows of one table that are kept back until the transaction is about to be committed. */
export class PendingRows<T extends Readonly<Record<keyof T, Value>>> {
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

  /** The statements that insert what they have not inserted yet. */
  take(db: Kysely<Schema>): CompiledQuery[] {
    if (this.#written === this.#rows.length) return []
    const queries = this.#inserts.queries(db, this.#rows.slice(this.#written))
    this.#written = this.#rows.length
    return queries
  }

  /** Forgets the rows behind the first `count`, which must have been written. */
  undoTo(count: number): void {
    this.#rows.length = count
    this.#written = count
  }

  /** Forgets all rows and returns them. */
  empty(): readonly T[] {
    const rows = this.#rows
    this.#rows = []
    this.#written = 0
    return rows
  }
}
