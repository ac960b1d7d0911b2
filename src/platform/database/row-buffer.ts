import type { Compilable, CompiledQuery, InsertQueryBuilder, InsertResult, Kysely } from 'kysely'
import type { Schema } from './schema.ts'

/** The maximum number of rows of one insert. Each number of rows has its own compiled statement. */
const INSERT_ROWS_MAX = 32

type Value = number | string | null
type Insert = InsertQueryBuilder<Schema, keyof Schema, InsertResult>

/**
 * Compiled multi-row inserts into a table, one for each number of rows up to `INSERT_ROWS_MAX`. Their
 * parameters are the values of the rows in order, so no parameter is looked up by name.
 */
export class RowInserts<T extends Readonly<Record<keyof T, Value>>> {
  readonly #table: keyof Schema
  readonly #columns: readonly (keyof T & string)[]
  readonly #refine: (insert: Insert) => Compilable<unknown>
  readonly #compiled = new WeakMap<object, CompiledQuery[]>()

  /** @param refine adds what to do on a conflict, and what to return */
  constructor(
    table: keyof Schema,
    columns: readonly (keyof T & string)[],
    refine: (insert: Insert) => Compilable<unknown> = (insert) => insert,
  ) {
    this.#table = table
    this.#columns = columns
    this.#refine = refine
  }

  /** Returns the statements that insert the rows from index `from` on, in order. */
  queries(db: Kysely<Schema>, rows: readonly T[], from = 0): CompiledQuery[] {
    const queries: CompiledQuery[] = []
    for (let start = from; start < rows.length; start += INSERT_ROWS_MAX) {
      const end = Math.min(start + INSERT_ROWS_MAX, rows.length)
      const parameters: Value[] = []
      for (let index = start; index < end; index += 1) {
        const row = rows[index] as T
        for (const column of this.#columns) parameters.push(row[column])
      }
      queries.push({ ...this.#insertOf(db, end - start), parameters })
    }
    return queries
  }

  #insertOf(db: Kysely<Schema>, count: number): CompiledQuery {
    const { adapter } = db.getExecutor()
    let inserts = this.#compiled.get(adapter)
    if (inserts === undefined) {
      inserts = []
      this.#compiled.set(adapter, inserts)
    }
    const compiled = inserts[count] ?? this.#compile(db, count)
    inserts[count] = compiled
    return compiled
  }

  #compile(db: Kysely<Schema>, count: number): CompiledQuery {
    const row = Object.fromEntries(this.#columns.map((column) => [column, '']))
    const rows = Array.from({ length: count }, () => row as never)
    const insert = db.insertInto(this.#table).values(rows) as unknown as Insert
    return this.#refine(insert).compile()
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
    const queries = this.#inserts.queries(db, this.#rows, this.#written)
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
