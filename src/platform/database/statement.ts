import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import type { Schema } from './schema.ts'

/** Takes the place of a parameter's value while a statement is compiled. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** A compiled query, and the name of each of its parameters that is no constant. */
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
