import type { Compilable, CompiledQuery, Kysely, QueryResult } from 'kysely'
import { waitForAll } from '../work/wait-for-all.ts'
import type { Schema } from './schema.ts'

type Query = Compilable<unknown> | CompiledQuery<unknown>
type RowOf<Q> = Q extends Compilable<infer R> ? R : Q extends CompiledQuery<infer R> ? R : never

/**
 * Runs statements of a transaction in this order, and sends each without waiting for the answer to the
 * one before: on PostgreSQL they take one round trip. Fails, when all have ended, with the first failure.
 */
export async function together<const Q extends readonly Query[]>(
  db: Kysely<Schema>,
  queries: Q,
): Promise<{ -readonly [I in keyof Q]: QueryResult<RowOf<Q[I]>> }> {
  const results = await waitForAll(
    queries.map((query) => db.executeQuery('compile' in query ? query.compile() : query)),
  )
  return results as { -readonly [I in keyof Q]: QueryResult<RowOf<Q[I]>> }
}
