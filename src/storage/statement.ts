import {
  type Compilable,
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
import { waitForAll } from '../platform/work/async.ts'
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

type Query = Compilable<unknown> | CompiledQuery<unknown>
type RowOf<Q> = Q extends Compilable<infer R> ? R : Q extends CompiledQuery<infer R> ? R : never

/**
 * Pipelines statements of a transaction: sends them in order, each without waiting for the answer
 * to the one before, so that they take one round trip on PostgreSQL. When all have ended, throws
 * the first failure.
 */
export async function pipeline<const Q extends readonly Query[]>(
  db: Kysely<Schema>,
  queries: Q,
): Promise<{ -readonly [I in keyof Q]: QueryResult<RowOf<Q[I]>> }> {
  const results = await waitForAll(
    queries.map((query) => db.executeQuery('compile' in query ? query.compile() : query)),
  )
  return results as { -readonly [I in keyof Q]: QueryResult<RowOf<Q[I]>> }
}

/** Takes the place of a parameter's value while a statement is compiled. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A compiled query and, for each of its parameters, the name; undefined for a constant. */
type Compiled<P extends object, R> = {
  readonly query: CompiledQuery<R>
  readonly names: readonly (keyof P | undefined)[]
}

/** A query that is compiled once per engine. Every call must pass the same parameter names. */
type Statement<P extends object, R> = {
  /** Runs it. */
  (db: Kysely<Schema>, parameters: P): Promise<QueryResult<R>>
  /** Returns the compiled query, for running it together with others. */
  query(db: Kysely<Schema>, parameters: P): CompiledQuery<R>
}

/**
 * Defines a query for a hot path. Kysely builds and compiles it once per engine, at its first call,
 * which costs several times what SQLite takes to run it. After that only the parameters change.
 *
 * @param build must not inspect the parameters: it receives placeholders
 */
export function statement<P extends object, R>(
  build: (db: Kysely<Schema>, parameters: P) => Compilable<R>,
): Statement<P, R> {
  const compiled = new WeakMap<object, Compiled<P, R>>()

  function compile(db: Kysely<Schema>, names: readonly string[]): Compiled<P, R> {
    const placeholders = names.map((name) => [name, new Placeholder(name)])
    const query = build(db, Object.fromEntries(placeholders)).compile()
    const namesOf = query.parameters.map((value) =>
      value instanceof Placeholder ? (value.name as keyof P) : undefined,
    )
    return { query, names: namesOf }
  }

  function query(db: Kysely<Schema>, parameters: P): CompiledQuery<R> {
    const { adapter } = db.getExecutor()
    let found = compiled.get(adapter)
    if (found === undefined) {
      found = compile(db, Object.keys(parameters))
      compiled.set(adapter, found)
    }
    const { query, names } = found
    const values = query.parameters.slice()
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index]
      if (name !== undefined) values[index] = parameters[name]
    }
    return { ...query, parameters: values }
  }

  const run = (db: Kysely<Schema>, parameters: P) => db.executeQuery(query(db, parameters))
  return Object.assign(run, { query })
}
