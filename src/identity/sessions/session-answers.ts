import type { SessionResource } from '@terse/contract/sign-in'
import type { FastifyReply } from 'fastify'
import { Failure } from '../../platform/failure.ts'
import { presentSession } from './present.ts'
import type { SessionCache } from './session-cache.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { OpenedSession } from './sessions.ts'

/** Answers with a new or renewed session, whose secret goes into the cookie. */
export type AnswerSession = (reply: FastifyReply, opened: OpenedSession) => Promise<SessionResource>

export function answerSessions(deps: {
  readonly sessionCache: SessionCache
  readonly sessionCookie: SessionCookie
  readonly baseUrl: string
}): AnswerSession {
  return async (reply, { secret }) => {
    const signedIn = await deps.sessionCache.find(secret)
    // Possible where it was ended by another request at the same time.
    if (signedIn === undefined) throw Failure.unauthorized({ code: 'session_ended' })
    reply.header('Set-Cookie', deps.sessionCookie.issue(secret))
    return presentSession(signedIn, deps.baseUrl)
  }
}
