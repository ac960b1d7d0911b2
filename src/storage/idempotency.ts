import type { Kysely } from 'kysely'
import { Failure } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Schema } from './schema.ts'
import { StaleRow } from './store.ts'
import type { WriteBuffer } from './write-buffer.ts'

type IdempotencyRecord = {
  readonly workspace_id: string
  readonly idempotency_key: string
  readonly fingerprint: string
  /** What the request created, as JSON; in Base64 where it is sealed. */
  readonly result: string
  /** Microseconds since the epoch. */
  readonly created_at: number
}

export type IdempotencyStore = {
  find(workspaceId: string, key: string): Promise<IdempotencyRecord | undefined>
  /** Makes the transaction run again when a concurrent request has inserted the same key first. */
  insert(record: IdempotencyRecord): Promise<void>
  /** Deletes a bounded number of the oldest records from before `beforeMicros`; true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

/** Most records deleted at once. */
const TRIM_MAX = 1_000

export function idempotencyStore(db: Kysely<Schema>, writes: WriteBuffer): IdempotencyStore {
  return {
    find: (workspaceId, key) =>
      db
        .selectFrom('idempotency')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('idempotency_key', '=', key)
        .executeTakeFirst(),
    insert: (record) => writes.add(db.insertInto('idempotency').values(record).compile()),
    async trim(beforeMicros) {
      const old = db
        .selectFrom('idempotency')
        .select(['workspace_id', 'idempotency_key'])
        .where('created_at', '<', beforeMicros)
        .orderBy('created_at')
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('idempotency')
        .where((eb) =>
          eb(
            eb.refTuple('workspace_id', 'idempotency_key'),
            'in',
            old.$asTuple('workspace_id', 'idempotency_key'),
          ),
        )
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}

export type IdempotencyStores = { readonly idempotency: IdempotencyStore }

/** How long a repeated request is answered with the result of the first one. */
export const IDEMPOTENCY_RETENTION_MICROS = 24 * 60 * 60 * 1_000_000

/**
 * Runs a request within the transaction, unless the same request has run before: then returns its result.
 *
 * @param steps.read reads what `write` needs, concurrently with the search for the request's record, so
 *   that it costs no extra round trip
 * @throws {Failure} `idempotency_conflict` when the key was used for a different request
 */
export async function runIdempotent<R, T>(
  stores: IdempotencyStores,
  workspaceId: string,
  request: IdempotentRequest | undefined,
  nowMicros: number,
  steps: { readonly read: () => Promise<R>; readonly write: (read: R) => Promise<T> },
): Promise<T> {
  if (request === undefined) return steps.write(await steps.read())
  const [found, read] = await Promise.allSettled([
    stores.idempotency.find(workspaceId, request.key),
    steps.read(),
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
    if (read.status === 'rejected') throw read.reason
    result = await steps.write(read.value)
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
