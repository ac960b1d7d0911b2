import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../failure.ts'
import type { IdempotentRequest } from '../../idempotency/store/idempotency-store.ts'
import type { Throttle } from '../../limits/throttle.ts'

const KIB = 1024

/**
 * Results of requests with a key are stored for a day. This bounds the storage of one workspace to the
 * results of 1 GiB of requests.
 */
export const IDEMPOTENCY_LIMITS = { limit: 1024 * KIB, windowSeconds: 24 * 60 * 60 }
/** Counted for each request besides its body: the least that its record takes. */
const RECORD_KIB = 1

const KEY = /^[\x21-\x7e]{1,255}$/

/** Returns the `Idempotency-Key` of a request with its fingerprint; undefined without the header. */
export type IdempotencyReader = (
  request: FastifyRequest,
  workspaceId: string,
) => IdempotentRequest | undefined

/**
 * @param key 32 bytes, used only for fingerprints: a body may hold a password, so a plain hash is unsafe
 * @param throttle with `IDEMPOTENCY_LIMITS`: KiB for each workspace
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
