import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import type { Schema } from '../schema.ts'

/**
 * Kysely over one connection that is always the same. Transactions are not begun through it: writes
 * go through the group commit, which holds the transaction itself.
 */
export function kyselyOver(connection: DatabaseConnection): Kysely<Schema> {
  const refuse = () => Promise.reject(new Error('use Store.write: it holds the transaction'))
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    releaseConnection: async () => {},
    destroy: async () => {},
  }
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  const executor = new DirectExecutor(connection)
  return new Kysely<Schema>({ config: { dialect }, dialect, driver, executor })
}

/**
 * Hands queries straight to the connection. Kysely's own way acquires it and gives it back around
 * each query, under a lock, which takes longer than most queries here do.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    super(new SqliteQueryCompiler(), new SqliteAdapter(), {
      provideConnection: (consumer) => consumer(connection),
    })
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery(query)
  }
}
