import type { FastifyRequest } from 'fastify'
import { actorOf, signedInOf } from '../access/authentication.ts'
import type { Changer } from './own-factors.ts'

/** The person of a request who changes their own second factors. */
export function changerOf(request: FastifyRequest): Changer {
  const { person, session } = signedInOf(request)
  return { author: actorOf(request), person, sessionId: session.id }
}
