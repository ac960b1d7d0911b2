import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../failure.ts'
import type { IdempotentRequest } from '../../idempotency/store/idempotency-store.ts'
import type { Throttle } from '../../limits/throttle.ts'

const KIB = 1024

/**
 * What is made of a workspace's requests with a key is kept for a day, so this bounds what it takes: 1 GiB
 * of requests in a day.
 */
export const IDEMPOTENCY_LIMITS = { limit: 1024 * KIB, windowSeconds: 24 * 60 * 60 }
/** What is kept of a request besides its fields, at least. */
const RECORD_KIB = 1

const KEY = /^[\x21-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` header of a request that may be sent again. */
export type IdempotencyReader = (
  request: FastifyRequest,
  workspaceId: string,
) => IdempotentRequest | undefined

/**
 * @param key 32 bytes, for nothing but fingerprints: a body may hold a password, so no plain hash
 * @param throttle of `IDEMPOTENCY_LIMITS`, in KiB of each workspace
 */
export function idempotencyReader(key: Buffer, throttle: Throttle): IdempotencyReader {
  return (request, workspaceId) => {
    const header = request.headers['idempotency-key']
    if (header === undefined) return undefined
    if (typeof header !== 'string' || !KEY.test(header)) {
      throw Failure.invalid({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters'] })
    }
    const body = JSON.stringify(request.body)
    const events = Math.ceil(Buffer.byteLength(body) / KIB) + RECORD_KIB
    const verdict = throttle.take(workspaceId, { events })
    if (!verdict.allowed) {
      throw Failure.tooMany(
        'This workspace has sent 1 GiB of requests with an Idempotency-Key within a day. Send them without it, or later.',
        verdict.resetSeconds,
      )
    }
    const fingerprint = createHmac('sha256', key)
      .update(`${request.method} ${request.routeOptions.url}\n`)
      .update(body)
      .digest('base64url')
    return { key: header, fingerprint }
  }
}
