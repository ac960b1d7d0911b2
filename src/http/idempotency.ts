import { createHmac } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../domain/failure.ts'
import type { IdempotentRequest } from '../domain/idempotency/idempotency-store.ts'

const KEY = /^[\x21-\x7e]{1,255}$/

/** Reads the `Idempotency-Key` header of a request that may be sent again. */
export type IdempotencyReader = (request: FastifyRequest) => IdempotentRequest | undefined

/** @param key 32 bytes, for nothing but fingerprints: a body may hold a password, so no plain hash */
export function idempotencyReader(key: Buffer): IdempotencyReader {
  return (request) => {
    const header = request.headers['idempotency-key']
    if (header === undefined) return undefined
    if (typeof header !== 'string' || !KEY.test(header)) {
      throw Failure.invalid({ 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters'] })
    }
    const fingerprint = createHmac('sha256', key)
      .update(`${request.method} ${request.routeOptions.url}\n`)
      .update(JSON.stringify(request.body))
      .digest('base64url')
    return { key: header, fingerprint }
  }
}
