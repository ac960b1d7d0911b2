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
  sql,
} from 'kysely'
import { Failure } from '../../platform/failure.ts'
import { waitForAll } from '../../platform/work/async.ts'
import type { Schema } from '../schema.ts'
import { kyselyOn } from '../statement.ts'
import { StaleRow, UniqueViolation } from '../store.ts'

const DIALECT = {
  adapter: new PostgresAdapter(),
  compiler: new PostgresQueryCompiler(),
  createIntrospector: (db: Kysely<unknown>) => new PostgresIntrospector(db),
}
const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE'])

/**
 * A transaction with few round trips: `begin` is sent with the first reads, `commit` with the last
 * writes, and concurrent statements are pipelined.
 */
export class Transaction implements DatabaseConnection {
  readonly db: Kysely<Schema>
  readonly #client: PostgresPoolClient
  #begun: Promise<void> | undefined
  #hasBegun = false
  #hasWaitingWrite = false

  private constructor(client: PostgresPoolClient) {
    this.#client = client
    this.db = kyselyOn(this, DIALECT)
  }

  /**
   * Runs `work`, then the `last` statements that it returns, and commits. Rolls back when anything
   * throws.
   *
   * @throws {StaleRow} when one of the last statements violates a unique constraint: another
   *   transaction committed first
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
    this.#beginOnce()
    // Before `begin` has succeeded, a write would be committed on its own. So the first write waits
    // for it, and so do all statements after it, to keep the order.
    if (!this.#hasBegun && (this.#hasWaitingWrite || query.query.kind !== 'SelectQueryNode')) {
      this.#hasWaitingWrite = true
      await this.#begun
    }
    const { command, rowCount, rows } = await this.#client.query<R>(query.sql, query.parameters)
    const isWrite = WRITES.has(command)
    return { rows, ...(isWrite && { numAffectedRows: BigInt(rowCount) }) }
  }

  // biome-ignore lint/correctness/useYield: Kysely requires the method; streaming is not supported
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('transactions do not support streaming')
  }

  #beginOnce(): void {
    this.#begun ??= this.#begin()
    // Prevents an unhandled rejection; the promise is awaited before anything is written.
    this.#begun.catch(() => {})
  }

  async #begin(): Promise<void> {
    await this.#client.query('begin', [])
    this.#hasBegun = true
  }

  async #commit(last: readonly CompiledQuery[]): Promise<void> {
    if (last.length > 0) this.#beginOnce()
    if (this.#begun === undefined) return
    await this.#begun
    try {
      // After a failure PostgreSQL refuses further statements, and `commit` rolls back.
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

/**
 * Returns a statement that takes an exclusive lock on a name until the transaction ends. Names are
 * compared by a 64-bit hash: two names with the same hash wait for each other needlessly.
 * PostgreSQL releases the lock with the transaction, so it also works through PgBouncer in
 * transaction mode and survives no killed process.
 */
export function lockName(tx: Kysely<Schema>, name: string): CompiledQuery {
  return tx
    .selectNoFrom(sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`.as('locked'))
    .compile()
}
