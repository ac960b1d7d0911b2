import { ifNoneMatchHeaders } from '@terse/contract/primitives'
import { type UsageResource, usageSchema } from '@terse/contract/usage'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import { INSTANCE } from '../../storage/event-log.ts'
import { actorOf } from '../authentication.ts'
import { QUOTA_NAMES } from './quota.ts'
import type { QuotaBook, UsageReader } from './quota-book.ts'

export type UsageRouteDependencies = {
  readonly usage: UsageReader
  /** Counts requests a minute of each workspace. */
  readonly workspaceThrottle: Throttle
}

export const usageRoutes: FastifyPluginAsyncZod<UsageRouteDependencies> = async (app, deps) => {
  app.get(
    '/usage',
    {
      schema: {
        tags: ['Workspace'],
        operationId: 'workspace.getUsage',
        summary: 'Show usage and quotas',
        description: 'Returns what the workspace uses, with the limit of each quota.',
        headers: ifNoneMatchHeaders,
        response: { 200: usageSchema },
      },
    },
    async (request): Promise<UsageResource> => {
      const actor = actorOf(request)
      const { used, limits } = await deps.usage(actor)
      const requests = deps.workspaceThrottle.used(actor.workspaceId)
      const counted = { ...used, requests_per_minute: requests }
      const entries = QUOTA_NAMES.map((name) => [
        name,
        { used: counted[name], limit: limits[name] || null },
      ])
      return Object.fromEntries(entries) as UsageResource
    },
  )
}

export type RequestLimits = {
  /** API requests per minute and token or person; 0 is off. */
  readonly rateLimit: number
  readonly throttle: Throttle
  readonly workspaceThrottle: Throttle
  readonly quotas: QuotaBook
  readonly trustedProxies: Networks
}

/** Counts the request against the limits of its sender and its workspace. */
export async function limitRequests(
  limits: RequestLimits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (limits.rateLimit > 0) limitRate(limits, request, reply)
  await limitWorkspaceRate(limits, request)
}

/**
 * Counts the request against the limit of its token or person, or else of its address, and tells the client
 * where it stands.
 */
function limitRate(
  { throttle, rateLimit: limit, trustedProxies }: RequestLimits,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const verdict = throttle.take(
    request.actor?.id ?? subscriberOf(addressOf(request.raw, trustedProxies)),
  )
  reply.headers({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(verdict.remaining),
    'RateLimit-Reset': String(verdict.resetSeconds),
  })
  if (verdict.allowed) return
  throw new HttpRefusal(
    'rate_limited',
    `${subjectOf(request)} may make ${limit} requests per minute.`,
    {
      'Retry-After': String(verdict.resetSeconds),
    },
  )
}

function subjectOf({ actor }: FastifyRequest): string {
  if (actor === null) return 'An address'
  return actor.kind === 'token' ? 'This token' : 'A person'
}

/** Counts the request against the quota of its workspace, where that has one. */
async function limitWorkspaceRate(
  { quotas, workspaceThrottle }: RequestLimits,
  request: FastifyRequest,
): Promise<void> {
  const { workspaceId = INSTANCE } = request.actor ?? {}
  if (workspaceId === INSTANCE) return
  const found = quotas.of(workspaceId)
  const { requests_per_minute: limit } = found instanceof Promise ? await found : found
  const verdict = workspaceThrottle.take(workspaceId, {
    limit: limit === 0 ? Number.POSITIVE_INFINITY : limit,
  })
  if (verdict.allowed) return
  throw new HttpRefusal(
    'rate_limited',
    `This workspace has reached its quota of ${limit} requests per minute. Send fewer, or ask the operator of this service for a higher quota.`,
    { 'Retry-After': String(verdict.resetSeconds) },
  )
}
