import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import { waitForAll } from '../work/wait-for-all.ts'
import type { Schema } from './schema.ts'

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
