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
 * Returns a Kysely instance bound to one connection. Statements reach the connection in call order,
 * even while earlier ones are running. Kysely's own transactions are refused: the owner of the
 * connection manages the transaction.
 */
export function kyselyOn(connection: DatabaseConnection, sqlDialect: SqlDialect): Kysely<Schema> {
  const refuseTransaction = () =>
    Promise.reject(new Error('use Store.write, which manages the transaction'))
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuseTransaction,
    commitTransaction: refuseTransaction,
    rollbackTransaction: refuseTransaction,
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
 * Passes queries directly to the connection. Kysely's default executor acquires and releases the
 * connection around each query, under a lock. That takes longer than most SQLite queries, and on
 * PostgreSQL it makes each statement wait for the answer to the one before.
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
