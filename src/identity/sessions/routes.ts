import { pageQuery } from '@terse/contract/pagination'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  authenticateBody,
  sessionEnded,
  sessionList,
  sessionSchema,
  signedOut,
  signInBody,
} from '@terse/contract/sign-in'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Failure } from '../../platform/failure.ts'
import {
  type FastifyInstanceZod,
  INVALID,
  INVALID_BODY,
  INVALID_QUERY,
  NOT_FOUND,
  NOT_MODIFIED,
  OPEN_FAILURES,
  SESSION_FAILURES,
} from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import { actorOf, signedInOf } from '../access/authentication.ts'
import type { SignIn, SignInOrigin } from '../sign-in/sign-in.ts'
import { deviceOf } from './device.ts'
import { presentEntry, presentSession } from './present.ts'
import type { AnswerSession } from './session-answers.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { Sessions } from './sessions.ts'

const tags = ['Sign-in']

export type SessionRouteDependencies = WalkContext & {
  readonly sessions: Sessions
  readonly signIn: SignIn
  readonly sessionCookie: SessionCookie
  readonly answerSession: AnswerSession
  readonly trustedProxies: Networks
}

export const sessionRoutes: FastifyPluginAsyncZod<SessionRouteDependencies> = async (app, deps) => {
  signInRoutes(app, deps)
  sessionListRoutes(app, deps)
}

function signInRoutes(app: FastifyInstanceZod, deps: SessionRouteDependencies): void {
  app.post(
    '/session',
    {
      schema: {
        tags,
        operationId: 'session.create',
        summary: 'Sign in',
        description:
          'Starts a session, whose secret is in the cookie of the answer. Where the person has a second factor, the first answer is 401 `second_factor_required`, and its `errors` name the fields that would do; send the same request with one of them.',
        body: signInBody,
        response: { 201: sessionSchema, ...INVALID, ...OPEN_FAILURES },
      },
    },
    async (request, reply) => {
      const opened = await deps.signIn.signIn(request.body, originOf(request, deps))
      const { signedIn: earlier } = request
      if (earlier !== null) await endQuietly(deps, request, earlier.session.id)
      reply.code(201)
      return deps.answerSession(reply, opened)
    },
  )

  app.post(
    '/session/authenticate',
    {
      schema: {
        tags,
        operationId: 'session.authenticate',
        summary: 'Confirm who you are',
        description:
          'Proves again who the person is, which some operations need within the last ten minutes: they are refused with 403 `authentication_required`. The session gets a new secret.',
        body: authenticateBody,
        response: { 200: sessionSchema, ...INVALID, ...SESSION_FAILURES },
      },
    },
    async (request, reply) => {
      const signedIn = signedInOf(request)
      const opened = await deps.signIn.authenticate(signedIn, request.body, originOf(request, deps))
      return deps.answerSession(reply, opened)
    },
  )

  app.get(
    '/session',
    {
      schema: {
        tags,
        operationId: 'session.get',
        summary: 'Show the session',
        description: 'Returns who is signed in, and the workspaces with the role in each.',
        headers: ifNoneMatchHeaders,
        response: { 200: sessionSchema, ...NOT_MODIFIED, ...SESSION_FAILURES },
      },
    },
    async (request) => presentSession(signedInOf(request), deps.baseUrl),
  )

  app.delete(
    '/session',
    {
      schema: {
        tags,
        operationId: 'session.delete',
        summary: 'Sign out',
        description: 'Ends the session.',
        response: { 200: signedOut, ...INVALID_BODY, ...SESSION_FAILURES },
      },
    },
    async (request, reply) => {
      const { person, session } = signedInOf(request)
      await deps.sessions.end(actorOf(request), person.id, session.id)
      reply.header('Set-Cookie', deps.sessionCookie.clear())
      return { message: 'Signed out' as const }
    },
  )
}

function sessionListRoutes(app: FastifyInstanceZod, deps: SessionRouteDependencies): void {
  app.get(
    '/sessions',
    {
      schema: {
        tags,
        operationId: 'sessions.list',
        summary: 'List your sessions',
        description: 'Returns the sessions of the person who is signed in, the last used first.',
        headers: ifNoneMatchHeaders,
        querystring: pageQuery,
        response: { 200: sessionList, ...NOT_MODIFIED, ...INVALID_QUERY, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      const { person, session } = signedInOf(request)
      return wholeList(request, deps, request.query, {
        owner: person.id,
        items: await deps.sessions.list(person.id),
        orderOf: ({ last_seen_at, id }) => [-last_seen_at, id],
        present: (each) => presentEntry(each, session),
      })
    },
  )

  app.delete(
    '/sessions',
    {
      schema: {
        tags,
        operationId: 'sessions.deleteOthers',
        summary: 'End all other sessions',
        description: 'Ends all sessions of the person but the one of this request.',
        response: { 200: sessionEnded, ...INVALID_BODY, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      const { person, session } = signedInOf(request)
      await deps.sessions.endOthers(actorOf(request), person.id, session.id)
      return { message: 'Session ended' as const }
    },
  )

  app.delete(
    '/sessions/:id',
    {
      schema: {
        tags,
        operationId: 'sessions.delete',
        summary: 'End one of your sessions',
        description: 'Ends a session of the person who is signed in.',
        params: idParams,
        response: { 200: sessionEnded, ...NOT_FOUND, ...INVALID_BODY, ...SESSION_FAILURES },
      },
    },
    async (request) => {
      const { person, session } = signedInOf(request)
      await deps.sessions.end(actorOf(request), person.id, request.params.id, session.id)
      return { message: 'Session ended' as const }
    },
  )
}

/** From where a request signs in. */
export function originOf(
  request: FastifyRequest,
  { trustedProxies }: Pick<SessionRouteDependencies, 'trustedProxies'>,
): SignInOrigin {
  return {
    address: subscriberOf(addressOf(request.raw, trustedProxies)),
    device: deviceOf(request.headers['user-agent']),
    cookie: request.headers.cookie,
    requestId: request.id,
  }
}

/** Ends the session that a new sign-in in the same browser replaces. */
async function endQuietly(
  { sessions }: SessionRouteDependencies,
  request: FastifyRequest,
  id: string,
): Promise<void> {
  const { person } = signedInOf(request)
  await sessions.end(actorOf(request), person.id, id).catch((error) => {
    if (!(error instanceof Failure && error.code === 'not_found')) throw error
  })
}
