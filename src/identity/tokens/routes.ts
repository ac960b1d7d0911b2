import { pageQuery } from '@terse/contract/pagination'
import { idempotencyHeaders, idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  createdTokenSchema,
  createTokenBody,
  type TokenResource,
  tokenList,
  tokenRevoked,
} from '@terse/contract/tokens'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Failure } from '../../platform/failure.ts'
import type { Idempotency } from '../../platform/http/api/idempotency.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { canonicalInstant, formatInstant, INSTANT_MILLIS_MAX } from '../../platform/time/clock.ts'
import { actorOf } from '../authentication.ts'
import type { NamedToken, Token } from '../store/token-store.ts'
import type { Tokens } from '../tokens.ts'

export type TokenRouteDependencies = WalkContext & {
  readonly tokens: Tokens
  readonly idempotency: Idempotency
}

const tags = ['Tokens']

export const tokenRoutes: FastifyPluginAsyncZod<TokenRouteDependencies> = async (app, deps) => {
  const { tokens, idempotency } = deps
  app.get(
    '/tokens',
    {
      schema: {
        tags,
        operationId: 'tokens.list',
        summary: 'List tokens',
        description: 'Returns the tokens of the workspace that are not revoked, oldest first.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: tokenList },
      },
    },
    async (request) => {
      const actor = actorOf(request)
      return wholeList(request, deps, request.query, {
        owner: actor.workspaceId,
        items: await tokens.listUsable(actor),
        orderOf: ({ token }) => [token.created_at, token.id],
        present,
      })
    },
  )

  app.post(
    '/tokens',
    {
      schema: {
        tags,
        operationId: 'tokens.create',
        summary: 'Create a token',
        description:
          'Returns the token itself in `secret`, this once. Its scopes can allow no more than the caller may do, and it expires no later than a token that creates it. People need a recent authentication. With an `Idempotency-Key`, only the caller who created it gets it again.',
        headers: idempotencyHeaders,
        body: createTokenBody,
        response: { 201: createdTokenSchema },
      },
    },
    async (request, reply) => {
      const { name, scopes, expires_at } = request.body
      const actor = actorOf(request)
      const expiresAt = expires_at == null ? null : parseExpiry(expires_at)
      const repeatable = idempotency.readSealed(request, reply, actor)
      const options = { name, scopes, expiresAt }
      const { secret, ...created } = await tokens.create(actor, options, repeatable)
      return reply.code(201).send({ ...present(created), secret })
    },
  )

  app.delete(
    '/tokens/:id',
    {
      schema: {
        tags,
        operationId: 'tokens.delete',
        summary: 'Revoke a token',
        description: 'Every node refuses it within a second.',
        params: idParams,
        response: { 200: tokenRevoked },
      },
    },
    async (request) => {
      await tokens.revoke(actorOf(request), request.params.id)
      return { message: 'Token revoked' as const }
    },
  )
}

function present({ token, creatorName }: NamedToken): TokenResource {
  const instant = (micros: number | null) => (micros === null ? null : formatInstant(micros))
  return {
    id: token.id,
    name: token.name,
    scopes: [...token.scopes],
    created_by: creatorOf(token, creatorName),
    created_at: formatInstant(token.created_at),
    expires_at: instant(token.expires_at),
    last_used_at: instant(token.last_used_at),
  }
}

function creatorOf({ created_by: id }: Token, name: string | null) {
  return id === null || name === null ? null : { id, name }
}

/** @throws {Failure} `validation_failed` */
function parseExpiry(text: string): number {
  const instant = canonicalInstant(text)
  if (instant === undefined) throw Failure.invalid({ expires_at: [{ code: 'invalid_instant' }] })
  const millis = Date.parse(instant)
  if (millis <= Date.now()) throw Failure.invalid({ expires_at: [{ code: 'past' }] })
  if (millis > INSTANT_MILLIS_MAX) {
    throw Failure.invalid({ expires_at: [{ code: 'too_late', reason: 'year' }] })
  }
  return millis * 1_000
}
