import {
  type CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  type PostgresPool,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import { Failure } from '../../failure.ts'
import { waitForAll } from '../../work/wait-for-all.ts'
import { kyselyOn } from '../direct-kysely.ts'
import type { Schema } from '../schema.ts'
import { StaleRow, UniqueViolation } from '../store.ts'

const DIALECT = {
  adapter: new PostgresAdapter(),
  compiler: new PostgresQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
}
const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE'])

/**
 * A transaction that takes few round trips: `begin` travels with the first reads, `commit` with the last
 * writes, and statements that are asked for at once go together.
 */
export class Transaction implements DatabaseConnection {
  readonly db: Kysely<Schema>
  readonly #client: PostgresPoolClient
  #begun: Promise<void> | undefined
  #hasBegun = false
  #isHolding = false

  private constructor(client: PostgresPoolClient) {
    this.#client = client
    this.db = kyselyOn(this, DIALECT)
  }

  /**
   * Commits what `work` does, with the statements that it returns as its last; undoes everything where
   * something throws.
   *
   * @throws {StaleRow} where one of the last statements violates a unique constraint: another
   *   transaction was faster
   */
  static async run<T>(
    pool: PostgresPool,
    work: (db: Kysely<Schema>) => Promise<{ result: T; last: readonly CompiledQuery[] }>,
  ): Promise<T> {
    const client = await pool.connect()
    const transaction = new Transaction(client)
    let isClean = false
    try {
      const { result, last } = await work(transaction.db)
      await transaction.#commit(last)
      isClean = true
      return result
    } catch (error) {
      isClean = await transaction.#rollback()
      throw error
    } finally {
      client.release(!isClean)
    }
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#startOnce()
    // Without a transaction a write would be kept, whatever becomes of the rest: it waits until there is
    // one, and all that comes after it waits too, so that the order stays.
    if (!this.#hasBegun && (this.#isHolding || query.query.kind !== 'SelectQueryNode')) {
      this.#isHolding = true
      await this.#begun
    }
    const { command, rowCount, rows } = await this.#client.query<R>(query.sql, query.parameters)
    const isWrite = WRITES.has(command)
    return { rows, ...(isWrite && { numAffectedRows: BigInt(rowCount) }) }
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for the method; nothing here streams
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('a transaction streams nothing')
  }

  #startOnce(): void {
    this.#begun ??= this.#begin()
    // Awaited before anything is written.
    this.#begun.catch(() => {})
  }

  async #begin(): Promise<void> {
    await this.#client.query('begin', [])
    this.#hasBegun = true
  }

  async #commit(last: readonly CompiledQuery[]): Promise<void> {
    if (last.length > 0) this.#startOnce()
    if (this.#begun === undefined) return
    await this.#begun
    try {
      // After a failure PostgreSQL takes no further statement, and `commit` undoes.
      const sent = last.map((query) => this.executeQuery(query))
      const [, { command }] = await waitForAll([
        waitForAll(sent),
        this.#client.query<unknown>('commit', []),
      ])
      if ((command as string) !== 'COMMIT') {
        throw Failure.unavailable(new Error(`PostgreSQL answered ${command} to commit`))
      }
    } catch (error) {
      throw error instanceof UniqueViolation ? new StaleRow() : error
    }
  }

  /** Returns whether the connection can be used again. */
  async #rollback(): Promise<boolean> {
    if (this.#begun === undefined) return true
    try {
      await this.#client.query('rollback', [])
      return true
    } catch {
      return false
    }
  }
}
