import { StaleRow } from '../database/store.ts'
import { Failure } from '../failure.ts'
import type { IdempotencyStore, IdempotentRequest } from './store/idempotency-store.ts'

export type IdempotencyStores = { readonly idempotency: IdempotencyStore }

/** How long a repeated request is answered with the result of the first one. */
export const IDEMPOTENCY_RETENTION_MICROS = 24 * 60 * 60 * 1_000_000

/**
 * Runs `work` within the transaction, unless the same request has run before: then returns its result.
 *
 * @param steps.look reads what `work` needs, concurrently with the search for the request's record, so that
 *   it costs no extra round trip
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
    const stored = openResult(found.value.result, workspaceId, request)
    request.onReplay?.()
    return JSON.parse(stored) as T
  }
  let result: T
  try {
    if (looked.status === 'rejected') throw looked.reason
    result = await steps.work(looked.value)
  } catch (error) {
    // The same request on another connection may have committed first and caused this failure: then the
    // transaction runs again and finds its result. After a database error no further query is possible.
    if (!(error instanceof Failure)) throw error
    const concurrent = await stores.idempotency.find(workspaceId, request.key)
    throw concurrent === undefined ? error : new StaleRow()
  }
  await stores.idempotency.insert({
    workspace_id: workspaceId,
    idempotency_key: request.key,
    fingerprint: request.fingerprint,
    result: sealResult(JSON.stringify(result), workspaceId, request),
    created_at: nowMicros,
  })
  return result
}

function sealResult(
  json: string,
  workspaceId: string,
  { key, sealing }: IdempotentRequest,
): string {
  if (sealing === undefined) return json
  return sealing.seal(Buffer.from(json), contextOf(workspaceId, key)).toString('base64')
}

function openResult(
  stored: string,
  workspaceId: string,
  { key, sealing }: IdempotentRequest,
): string {
  if (sealing === undefined) return stored
  const plain = sealing.unseal(Buffer.from(stored, 'base64'), contextOf(workspaceId, key))
  if (plain === undefined) throw new Error('a stored result cannot be unsealed')
  return plain.toString()
}

function contextOf(workspaceId: string, key: string): string {
  return `${workspaceId} ${key}`
}
