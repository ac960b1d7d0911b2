import { createHmac } from 'node:crypto'
import { idempotencyHeaders } from '@terse/contract/primitives'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Sealing } from '../../crypto/sealing.ts'
import { Failure } from '../../failure.ts'
import type { Throttle } from '../../limits/throttle.ts'

const KIB = 1024

/**
 * Results of requests with a key are stored for a day. This bounds the storage of one workspace to the
 * results of 1 GiB of requests.
 */
export const IDEMPOTENCY_LIMITS = { limit: 1024 * KIB, windowSeconds: 24 * 60 * 60 }
/** Counted for each request besides its body: the least that its record takes. */
const RECORD_KIB = 1

const REPLAYED = 'Idempotent-Replayed'
const KEY = /^[\x21-\x7e]{1,255}$/

/** A request that takes effect once, however often the client sends it. */
export type IdempotentRequest = {
  /** The client's `Idempotency-Key`. */
  readonly key: string
  /** Equal for equal requests, different for different ones. */
  readonly fingerprint: string
  /** Called when the result of an earlier request is returned, and nothing was done. */
  readonly onReplay?: () => void
  /** Encrypts the stored result. */
  readonly sealing?: Sealing
}

/** For an operation whose result has a secret, which is never stored in plain text. */
export type SealedRequest = IdempotentRequest & { readonly sealing: Sealing }

/** The sender of a request with an idempotency key. */
type Sender = { readonly workspaceId: string; readonly kind: string; readonly id: string | null }

/** Reads the `Idempotency-Key` of requests. A repetition is answered with `Idempotent-Replayed`. */
export type Idempotency = {
  /** Returns the key of a request with its fingerprint; undefined without the header. */
  read(
    request: FastifyRequest,
    reply: FastifyReply,
    sender: Pick<Sender, 'workspaceId'>,
  ): IdempotentRequest | undefined
  /** As `read`, for an operation that answers with a secret: only its sender gets the stored answer. */
  readSealed(
    request: FastifyRequest,
    reply: FastifyReply,
    sender: Sender,
  ): SealedRequest | undefined
}

/**
 * @param on.key 32 bytes, used only for fingerprints: a body may hold a password, so a plain hash is unsafe
 * @param on.throttle with `IDEMPOTENCY_LIMITS`: KiB for each workspace
 * @param on.sealing used only for stored results
 */
export function idempotencyOf(on: {
  readonly key: Buffer
  readonly throttle: Throttle
  readonly sealing: Sealing
}): Idempotency {
  function read(
    request: FastifyRequest,
    reply: FastifyReply,
    sender: Pick<Sender, 'workspaceId'>,
    bound = '',
  ): IdempotentRequest | undefined {
    const header = request.headers['idempotency-key']
    if (header === undefined) return undefined
    if (typeof header !== 'string' || !KEY.test(header)) {
      throw Failure.invalid({
        'Idempotency-Key': [{ code: 'invalid_idempotency_key', min: 1, max: 255 }],
      })
    }
    const body = JSON.stringify(request.body)
    const events = Math.ceil(Buffer.byteLength(body) / KIB) + RECORD_KIB
    const verdict = on.throttle.take(sender.workspaceId, { events })
    if (!verdict.allowed) {
      throw Failure.tooMany(
        'This workspace has sent 1 GiB of requests with an Idempotency-Key within a day. Send them without it, or later.',
        verdict.resetSeconds,
      )
    }
    const fingerprint = createHmac('sha256', on.key)
      .update(`${request.method} ${request.routeOptions.url}\n${bound}`)
      .update(body)
      .digest('base64url')
    return { key: header, fingerprint, onReplay: () => reply.header(REPLAYED, 'true') }
  }

  return {
    read: (request, reply, sender) => read(request, reply, sender),
    readSealed(request, reply, sender) {
      const found = read(request, reply, sender, `${sender.kind} ${sender.id}\n`)
      return found && { ...found, sealing: on.sealing }
    },
  }
}

/**
 * Lets each POST of the API that does not describe the header `Idempotency-Key` refuse it, because the client relies on
 * it. Other methods do the same when they are repeated. Call before the routes are registered.
 */
export function refuseUnhonouredKeys(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { url, method, schema } = route
    if (method !== 'POST' || !url.startsWith('/api/') || schema === undefined) return
    if (schema.headers === idempotencyHeaders) return
    route.onRequest = [
      ...[route.onRequest ?? []].flat(),
      async ({ headers }: FastifyRequest) => {
        if (headers['idempotency-key'] === undefined) return
        throw Failure.invalid({ 'Idempotency-Key': [{ code: 'not_honoured' }] })
      },
    ]
  })
}
