import type { FastifyRequest } from 'fastify'
import { Failure } from '../domain/failure.ts'
import type { Scope } from '../domain/tokens/scope.ts'
import type { Token } from '../domain/tokens/token.ts'
import type { Tokens } from '../domain/tokens/tokens.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that a token must have for this route. A route without one is open to all. */
    scope?: Scope
  }
  interface FastifyRequest {
    token: Token | null
  }
}

/** Finds the request's token and checks that it may do what the route does. */
export async function authenticate(tokens: Tokens, request: FastifyRequest): Promise<void> {
  const scope = request.routeOptions.config.scope
  if (scope === undefined) return
  const token = await tokens.authenticate(bearerOf(request.headers.authorization))
  if (!token.scopes.includes(scope)) throw Failure.missingScope(scope)
  request.token = token
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
