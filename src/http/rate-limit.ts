import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Throttle } from '../lib/throttle.ts'
import { HttpRefusal } from './problem.ts'

/** Counts the request against its token's limit, and tells the client where it stands. */
export function limitRate(
  throttle: Throttle,
  limit: number,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  if (request.token === null) return
  const verdict = throttle.take(request.token.id)
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
