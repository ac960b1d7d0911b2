import type { FastifyReply, FastifyRequest } from 'fastify'
import { INSTANCE } from '../../platform/events/event-writer.ts'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import type { QuotaBook } from './quota-book.ts'

/**
 * Counts the request against the limit of its token or person, or else of its address, and tells the client
 * where it stands.
 */
export function limitRate(
  {
    throttle,
    rateLimit: limit,
    trustedProxies,
  }: { throttle: Throttle; rateLimit: number; trustedProxies: Networks },
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (request.routeOptions.config.operation === undefined) return
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
export async function limitWorkspaceRate(
  { quotas, workspaceThrottle }: { quotas: QuotaBook; workspaceThrottle: Throttle },
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
