import type { CompatService } from '@terse/contract/compat-services'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, type CallApi, callsAs } from '../identity/index.ts'
import type { Compat } from './compat.ts'

export type CompatDependencies = {
  readonly compat: Compat
  /** Counts the request against the limits of its actor. */
  readonly limitRequests: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  readonly baseUrl: string
}

/** A client of another service, and how its requests reach our API. */
export type CompatClient = { readonly actor: Actor; readonly call: CallApi }

/**
 * Finds the client that sends a request with this secret, and counts the request against its limits.
 *
 * @throws {Failure} `unauthorized`
 * @throws {HttpRefusal} `rate_limited`
 */
export async function clientOf(
  app: FastifyInstance,
  { compat, limitRequests }: CompatDependencies,
  sent: {
    readonly service: CompatService
    readonly secret: string
    readonly request: FastifyRequest
    readonly reply: FastifyReply
  },
): Promise<CompatClient> {
  const { service, secret, request, reply } = sent
  const actor = { ...(await compat.authenticate(service, secret)), requestId: request.id }
  request.actor = actor
  await limitRequests(request, reply)
  return { actor, call: callsAs(app, actor) }
}
