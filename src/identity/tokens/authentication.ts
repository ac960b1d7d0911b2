import type { FastifyRequest } from 'fastify'
import { Failure } from '../../platform/failure.ts'
import type { Authenticator } from './authenticator.ts'
import type { Scope } from './scope.ts'
import type { Token } from './token.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a token must have for this route. A route without one is open to all. */
    scope?: Scope
  }
  interface FastifyRequest {
    token: Token | null
  }
}

/** Finds the token of a request whose route asks for one. */
export async function authenticate(
  authenticator: Authenticator,
  request: FastifyRequest,
): Promise<void> {
  if (request.routeOptions.config.scope === undefined) return
  request.token = await authenticator.authenticate(bearerOf(request.headers.authorization))
}

/** Checks that the request's token may do what the route does. */
export function authorize(request: FastifyRequest): void {
  const scope = request.routeOptions.config.scope
  if (scope !== undefined && !request.token?.scopes.includes(scope)) {
    throw Failure.missingScope(scope)
  }
}

/** The workspace on whose behalf an authenticated request is made. */
export function workspaceOf(request: FastifyRequest): string {
  if (request.token === null)
    throw new Error(`${request.url} has no scope, so nobody is known here`)
  return request.token.workspace_id
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
