import { Failure } from '../failure.ts'
import { type Nouns, StaleRow } from '../store.ts'
import type { IdempotentRequest } from './idempotency-store.ts'

/** How long a repeated request is answered with what the first one made. */
export const IDEMPOTENCY_RETENTION_MICROS = 24 * 60 * 60 * 1_000_000

/**
 * Does `work` within the unit, unless the same request did it before: then returns what that made.
 *
 * @throws {Failure} `idempotency_conflict` when the key was used for a different request
 */
export async function once<T>(
  stores: Nouns,
  workspaceId: string,
  request: IdempotentRequest | undefined,
  nowMicros: number,
  work: () => Promise<T>,
): Promise<T> {
  if (request === undefined) return work()
  const earlier = await stores.idempotency.find(workspaceId, request.key)
  if (earlier !== undefined) {
    if (earlier.fingerprint !== request.fingerprint) throw Failure.idempotencyConflict()
    return JSON.parse(earlier.result) as T
  }
  let result: T
  try {
    result = await work()
  } catch (error) {
    // The same request, faster on another connection, may be what stands in the way: then the unit is
    // run again and finds what that made. After an error of the database itself nothing can be asked.
    if (!(error instanceof Failure)) throw error
    const faster = await stores.idempotency.find(workspaceId, request.key)
    throw faster === undefined ? error : new StaleRow()
  }
  await stores.idempotency.insert({
    workspace_id: workspaceId,
    idempotency_key: request.key,
    fingerprint: request.fingerprint,
    result: JSON.stringify(result),
    created_at: nowMicros,
  })
  return result
}
