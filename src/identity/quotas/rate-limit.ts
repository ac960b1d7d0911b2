import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import type { QuotaBook } from './quota-book.ts'

/** Counts the request against its token's limit, and tells the client where it stands. */
export function limitRate(
  throttle: Throttle,
  limit: number,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const { actor } = request
  if (actor === null || actor.id === null) return
  const verdict = throttle.take(actor.id)
  reply.headers({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(verdict.remaining),
    'RateLimit-Reset': String(verdict.resetSeconds),
  })
  if (verdict.allowed) return
  throw new HttpRefusal('rate_limited', `This token may make ${limit} requests per minute.`, {
    'Retry-After': String(verdict.resetSeconds),
  })
}

/** Counts the request against the quota of its workspace, where that has one. */
export async function limitWorkspaceRate(
  { quotas, workspaceThrottle }: { quotas: QuotaBook; workspaceThrottle: Throttle },
  request: FastifyRequest,
): Promise<void> {
  if (request.actor === null) return
  const { workspaceId } = request.actor
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
