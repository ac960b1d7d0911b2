import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type QueryResult,
} from 'kysely'
import type { Schema } from './schema.ts'

type SqlDialect = Pick<Dialect, 'createIntrospector'> & {
  readonly adapter: DialectAdapter
  readonly compiler: QueryCompiler
}

/**
 * Kysely over one connection that is always the same. Statements reach it in the order in which they
 * are asked for, also while earlier ones are under way. Transactions are not begun through it: whoever
 * has the connection holds the transaction.
 */
export function kyselyOn(connection: DatabaseConnection, sqlDialect: SqlDialect): Kysely<Schema> {
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
  const { adapter, compiler } = sqlDialect
  const dialect: Dialect = {
    createAdapter: () => adapter,
    createDriver: () => driver,
    createIntrospector: (db) => sqlDialect.createIntrospector(db),
    createQueryCompiler: () => compiler,
  }
  const executor = new DirectExecutor(connection, sqlDialect)
  return new Kysely<Schema>({ config: { dialect }, dialect, driver, executor })
}

/**
 * Hands queries straight to the connection. Kysely's own way acquires it and gives it back around
 * each query, under a lock, which takes longer than most queries on SQLite do, and on PostgreSQL keeps
 * each statement waiting for the answer to the one before.
 */
class DirectExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection, { adapter, compiler }: SqlDialect) {
    super(compiler, adapter, { provideConnection: (consumer) => consumer(connection) })
    this.#connection = connection
  }

  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery(query)
  }
}
