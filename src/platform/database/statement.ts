import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { Schema } from './schema.ts'

/** Stands for a parameter's value while a statement is compiled. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A query that is compiled once for each engine. Every run must give the same parameters by name. */
type Statement<P extends object, R> = {
  /** Runs it. */
  (db: Kysely<Schema>, parameters: P): Promise<QueryResult<R>>
  /** Returns it as it is run, for running it together with others. */
  query(db: Kysely<Schema>, parameters: P): CompiledQuery<R>
}

/**
 * A query for the paths that are taken most. Kysely builds and compiles it once for each engine, at
 * its first run, which costs several times what SQLite takes to run it; after that only the
 * parameters change.
 *
 * @param build must not look into the parameters: what it gets are placeholders
 */
export function statement<P extends object, R>(
  build: (db: Kysely<Schema>, parameters: P) => Compilable<R>,
): Statement<P, R> {
  const compiled = new WeakMap<object, CompiledQuery<R>>()

  function compile(db: Kysely<Schema>, names: readonly string[]): CompiledQuery<R> {
    const placeholders = names.map((name) => [name, new Placeholder(name)])
    return build(db, Object.fromEntries(placeholders)).compile()
  }

  function query(db: Kysely<Schema>, parameters: P): CompiledQuery<R> {
    const { adapter } = db.getExecutor()
    let query = compiled.get(adapter)
    if (query === undefined) {
      query = compile(db, Object.keys(parameters))
      compiled.set(adapter, query)
    }
    const values = query.parameters.map((value) =>
      value instanceof Placeholder ? parameters[value.name as keyof P] : value,
    )
    return { ...query, parameters: values }
  }

  const run = (db: Kysely<Schema>, parameters: P) => db.executeQuery(query(db, parameters))
  return Object.assign(run, { query })
}
