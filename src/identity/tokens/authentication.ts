import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../../platform/failure.ts'
import type { Actor } from '../actor.ts'
import { isOperation, type Operation, requirePermission } from '../permissions.ts'
import type { Authenticator } from './authenticator.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `nameOperations`. A route without one is open to all. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** Null until the request is authenticated, and on routes that are open to all. */
    actor: Actor | null
  }
}

/**
 * Gives each described route the operation that its description names. Call before the routes are
 * registered.
 *
 * @throws for a described route that `OPERATION_PERMISSIONS` lacks: it would be open to all
 */
export function nameOperations(app: FastifyInstance): void {
  app.decorateRequest('actor', null)
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/') || route.schema?.hide === true) return
    const operation = route.schema?.operationId
    if (!isOperation(operation)) throw new Error(`${route.url} has no permission: ${operation}`)
    route.config = { ...route.config, operation }
  })
}

/** Finds the actor of a request whose route is an operation. */
export async function authenticate(
  authenticator: Authenticator,
  request: FastifyRequest,
): Promise<void> {
  if (request.routeOptions.config.operation === undefined) return
  const actor = await authenticator.authenticate(bearerOf(request.headers.authorization))
  request.actor = { ...actor, requestId: request.id }
}

/** Checks that the request's actor may perform the operation of its route. */
export function authorize(request: FastifyRequest): void {
  const { operation } = request.routeOptions.config
  if (operation !== undefined) requirePermission(actorOf(request), operation)
}

/** The actor of a request that has been authenticated. */
export function actorOf({ actor, url }: FastifyRequest): Actor {
  if (actor === null) throw new Error(`${url} is not an operation, so its request has no actor`)
  return actor
}

function bearerOf(header: string | undefined): string {
  if (header === undefined) {
    throw Failure.unauthorized('Send a token in the header Authorization: Bearer <token>.')
  }
  const match = /^Bearer +([^\s]+) *$/i.exec(header)
  if (match?.[1] === undefined)
    throw Failure.unauthorized('The Authorization header must be: Bearer <token>.')
  return match[1]
}
