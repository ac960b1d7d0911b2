import { pageQuery } from '@terse/contract/pagination'
import { idParams, ifNoneMatchHeaders } from '@terse/contract/primitives'
import {
  authenticateBody,
  sessionEnded,
  sessionList,
  sessionSchema,
  setupBody,
  signedOut,
  signInBody,
  signInOptionsSchema,
} from '@terse/contract/sign-in'
import Bowser from 'bowser'
import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Failure } from '../../platform/failure.ts'
import type { FastifyInstanceZod } from '../../platform/http/api/responses.ts'
import { type WalkContext, wholeList } from '../../platform/http/api/walk.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Mailer } from '../../platform/mail/mailer.ts'
import { type Networks, subscriberOf } from '../../platform/network/ip-address.ts'
import { actorOf, signedInOf } from '../authentication.ts'
import { type AnswerSession, presentEntry, presentSession } from '../present.ts'
import type { SessionCookie } from './session.ts'
import type { Sessions } from './sessions.ts'
import type { Setup, SetupLinks } from './setup.ts'
import type { SignIn, SignInOrigin } from './sign-in.ts'

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
        response: { 201: sessionSchema },
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
        response: { 200: sessionSchema },
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
        response: { 200: sessionSchema },
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
        response: { 200: signedOut },
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
        response: { 200: sessionList },
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
        response: { 200: sessionEnded },
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
        response: { 200: sessionEnded },
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

export type SetupRouteDependencies = Pick<
  SessionRouteDependencies,
  'trustedProxies' | 'baseUrl'
> & {
  readonly setup: Setup
  readonly setupLinks: SetupLinks
  readonly answerSession: AnswerSession
  /** Undefined without single sign-on. */
  readonly oidc: { readonly name: string } | undefined
  /** Undefined when no mail is sent. */
  readonly mailer: Mailer | undefined
}

export const setupRoutes: FastifyPluginAsyncZod<SetupRouteDependencies> = async (app, deps) => {
  app.get(
    '/sign-in-options',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'signIn.getOptions',
        summary: 'Show how to sign in',
        description: 'Returns what a page needs to know before anybody has signed in.',
        headers: ifNoneMatchHeaders,
        response: { 200: signInOptionsSchema },
      },
    },
    async () => ({
      setup_required: await deps.setupLinks.isRequired(),
      oidc: deps.oidc === undefined ? null : { name: deps.oidc.name },
      mail: deps.mailer !== undefined,
      base_url: deps.baseUrl,
    }),
  )

  app.post(
    '/setup',
    {
      schema: {
        tags: ['Sign-in'],
        operationId: 'setup.complete',
        summary: 'Set up the first person',
        description:
          'Creates the first person, who operates the instance and owns every workspace that has no owner, and signs in. The code is printed at the first start, and by `terse setup`; it works once, for 24 hours.',
        body: setupBody,
        response: { 201: sessionSchema },
      },
    },
    async (request, reply) => {
      const opened = await deps.setup.complete(request.body, originOf(request, deps))
      reply.code(201)
      return deps.answerSession(reply, opened)
    },
  )
}

/** Longer than any real user agent; limits the input of the library's patterns. */
const USER_AGENT_LENGTH_MAX = 512
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP))
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))

/**
 * Returns the label of a session, such as `Firefox on Linux`. Text of the header itself is never part of it.
 */
function deviceOf(userAgent: string | undefined): string {
  const agent = userAgent?.slice(0, USER_AGENT_LENGTH_MAX).trim() ?? ''
  if (agent === '') return 'Unknown device'
  const tool = /^(curl|wget|httpie)\//i.exec(agent)?.[1]
  if (tool !== undefined) return tool.toLowerCase()
  const parser = Bowser.getParser(agent, true)
  const browser = among(BROWSERS, parser.parseBrowser().name)
  const system = among(SYSTEMS, parser.parseOS().name)
  if (browser === undefined) return system ?? 'Unknown device'
  return system === undefined ? browser : `${browser} on ${system}`
}

/** For an unknown agent the library returns text from the header, which could be anything. */
function among(names: ReadonlySet<string>, name: string | undefined): string | undefined {
  return name !== undefined && names.has(name) ? name : undefined
}
