import { StaleRow } from '../database/store.ts'
import { Failure } from '../failure.ts'
import type { IdempotencyStore, IdempotentRequest } from './store/idempotency-store.ts'

export type IdempotencyStores = { readonly idempotency: IdempotencyStore }

/** How long a repeated request is answered with what the first one made. */
export const IDEMPOTENCY_RETENTION_MICROS = 24 * 60 * 60 * 1_000_000

/**
 * Does `work` within the unit, unless the same request did it before: then returns what that made.
 *
 * @param steps.look reads what `work` needs; asked together with whether the request was done before, so
 *   that it costs no round trip of its own
 * @throws {Failure} `idempotency_conflict` when the key was used for a different request
 */
export async function once<L, T>(
  stores: IdempotencyStores,
  workspaceId: string,
  request: IdempotentRequest | undefined,
  nowMicros: number,
  steps: { readonly look: () => Promise<L>; readonly work: (looked: L) => Promise<T> },
): Promise<T> {
  if (request === undefined) return steps.work(await steps.look())
  const [found, looked] = await Promise.allSettled([
    stores.idempotency.find(workspaceId, request.key),
    steps.look(),
  ])
  if (found.status === 'rejected') throw found.reason
  if (found.value !== undefined) {
    if (found.value.fingerprint !== request.fingerprint) throw Failure.idempotencyConflict()
    return JSON.parse(found.value.result) as T
  }
  let result: T
  try {
    if (looked.status === 'rejected') throw looked.reason
    result = await steps.work(looked.value)
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
