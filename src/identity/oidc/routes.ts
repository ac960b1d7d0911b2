import { problemSchema } from '@terse/contract/errors'
import {
  identityParams,
  identityUnlinked,
  linkIdentityBody,
  oidcStartSchema,
  startOidcBody,
} from '@terse/contract/oidc'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Failure } from '../../platform/failure.ts'
import { HttpRefusal } from '../../platform/http/api/problem.ts'
import { REFUSED } from '../../platform/http/api/responses.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import { personActor } from '../actor.ts'
import { signedInOf } from '../authentication.ts'
import { changerOf } from '../second-factors/own-factors.ts'
import { originOf, type SessionRouteDependencies } from '../sign-in/routes.ts'
import type { SessionCache, SignedIn } from '../sign-in/sessions.ts'
import {
  type OidcAttempt,
  type OidcAttempts,
  OidcFault,
  type OidcIntent,
  type OidcProvider,
} from './provider.ts'
import type { OidcSignIn, OwnIdentities } from './sign-in.ts'

/** Callbacks of one address, each of which may ask the provider. */
export const CALLBACK_LIMITS = { limit: 30, windowSeconds: 60, keysMax: 100_000 } as const

const SIGN_IN_PAGE = '/app/sign-in'

export type OidcBrowserDependencies = OidcRouteDependencies &
  Pick<SessionRouteDependencies, 'sessions' | 'sessionCookie' | 'trustedProxies'> & {
    readonly sessionCache: SessionCache
    /** For `CALLBACK_LIMITS`. */
    readonly callbackThrottle: Throttle
  }

/** What a browser goes through on its way through the provider. Errors lead to the sign-in page. */
export const oidcBrowserRoutes: FastifyPluginAsyncZod<OidcBrowserDependencies> = async (
  app,
  deps,
) => {
  app.get(
    '/app/oidc/start',
    {
      config: { mayTakeLong: true },
      schema: { hide: true, querystring: z.object({ return_to: z.string().optional() }) },
    },
    (request, reply) =>
      leadingBack(deps, request, reply, async () => {
        const returnTo = request.query.return_to
        const { url, setCookie } = await beginOidc(deps, { kind: 'sign-in' }, returnTo)
        reply.header('Set-Cookie', setCookie)
        return url
      }),
  )

  app.get(
    '/app/oidc/callback',
    { config: { mayTakeLong: true }, schema: { hide: true } },
    (request, reply) => leadingBack(deps, request, reply, () => complete(deps, request, reply)),
  )
}

/** Redirects to what `work` returns, and to the sign-in page with a code when it fails. */
async function leadingBack(
  { oidc }: OidcBrowserDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<string>,
): Promise<FastifyReply> {
  requireOidc(oidc)
  // The address of a callback has the provider's code.
  reply.header('Referrer-Policy', 'no-referrer')
  try {
    return reply.redirect(await work(), 302)
  } catch (error) {
    const code = codeOf(error)
    if (code === undefined) throw error
    if (error instanceof OidcFault) logOidcFault(request, error)
    return reply.redirect(`${SIGN_IN_PAGE}?error=${code}`, 302)
  }
}

/** The code for the sign-in page; undefined for a bug. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof OidcFault) return error.code
  const isExpected =
    error instanceof Failure && (error.code === 'unavailable' || error.code === 'too_many_attempts')
  return isExpected ? error.code : undefined
}

/** Returns the path to which the browser goes, signed in. */
async function complete(
  deps: OidcBrowserDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { provider, attempts, signIn } = requireOidc(deps.oidc)
  limitCallbacks(deps, request)
  const { cookie } = request.headers
  const begun = attempts.read(cookie)
  reply.header('Set-Cookie', attempts.removal)
  const query = request.url.split('?')[1] ?? ''
  if (begun === undefined) throw new OidcFault('oidc_expired')
  const { attempt, redeem } = begun
  // The library checks it too; another state is no fault of the provider.
  if (new URLSearchParams(query).get('state') !== attempt.state) throw new OidcFault('oidc_expired')
  const earlier = await sessionOf(deps, cookie)
  requireSamePerson(attempt, earlier)
  const account = await provider.accountOf(query, attempt)
  const origin = { ...originOf(request, deps), sessionId: earlier?.session.id }
  const opened = await signIn.complete(account, attempt.intent, origin, redeem)
  if (opened !== undefined) {
    if (earlier !== undefined) await endEarlier(deps, earlier, request.id)
    reply.header('Set-Cookie', deps.sessionCookie.issue(opened.secret))
  }
  return attempt.returnPath
}

/** @throws {Failure} `too_many_attempts` */
function limitCallbacks(deps: OidcBrowserDependencies, request: FastifyRequest): void {
  const address = subscriberOf(addressOf(request.raw, deps.trustedProxies))
  const { allowed, resetSeconds } = deps.callbackThrottle.take(address)
  if (!allowed) throw Failure.tooManyAttempts('Too many attempts to sign in.', resetSeconds)
}

async function sessionOf(
  { sessionCookie, sessionCache }: OidcBrowserDependencies,
  cookie: string | undefined,
): Promise<SignedIn | undefined> {
  const secret = sessionCookie.read(cookie)
  return secret === undefined ? undefined : sessionCache.find(secret)
}

/** A link is only for the person who began it and is still signed in. */
function requireSamePerson({ intent }: OidcAttempt, signedIn: SignedIn | undefined): void {
  if (intent.kind !== 'link' || signedIn?.person.id === intent.personId) return
  throw new OidcFault('oidc_session_ended')
}

/** Ends the session that a new sign-in in the same browser replaces. */
async function endEarlier(
  { sessions }: OidcBrowserDependencies,
  { person, session }: SignedIn,
  requestId: string,
): Promise<void> {
  const author = { ...personActor(person, undefined, false), requestId }
  await sessions.end(author, person.id, session.id).catch((error) => {
    if (!(error instanceof Failure && error.code === 'not_found')) throw error
  })
}

const NO_SINGLE_SIGN_ON = {
  404: problemSchema.describe('This instance has no single sign-on.'),
}

/** Single sign-on with one provider. */
export type Oidc = {
  /** How the provider is called on the sign-in page. */
  readonly name: string
  readonly provider: OidcProvider
  readonly attempts: OidcAttempts
  readonly signIn: OidcSignIn
}

type OidcRouteDependencies = {
  /** Undefined without single sign-on. */
  readonly oidc: Oidc | undefined
  readonly ownIdentities: OwnIdentities
  readonly baseUrl: string
}

/** The ways of the API to begin; `browserRoutes` has the pages that the browser goes through. */
export const oidcRoutes: FastifyPluginAsyncZod<OidcRouteDependencies> = async (app, deps) => {
  app.post(
    '/session/oidc',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Sign-in'],
        operationId: 'session.startOidc',
        summary: 'Begin to sign in with the provider',
        description:
          'Returns the address to which the browser goes, to sign in or to accept an invitation. The answer’s cookie ties the rest to this browser, for ten minutes.',
        body: startOidcBody,
        response: { 200: oidcStartSchema, ...NO_SINGLE_SIGN_ON },
      },
    },
    (request, reply) => {
      const { invitation: code, return_to: returnTo } = request.body
      const intent: OidcIntent =
        code === undefined ? { kind: 'sign-in' } : { kind: 'invitation', code }
      return start(deps, reply, intent, returnTo)
    },
  )

  app.post(
    '/me/identities',
    {
      config: { mayTakeLong: true },
      schema: {
        tags: ['Me'],
        operationId: 'me.linkIdentity',
        summary: 'Begin to link an account with the provider',
        description:
          'Returns the address to which the browser goes. The account with which the person signs in there leads to them from then on. Needs an authentication within the last ten minutes.',
        body: linkIdentityBody,
        response: { 200: oidcStartSchema, ...NO_SINGLE_SIGN_ON },
      },
    },
    (request, reply) => {
      const { person } = signedInOf(request)
      return start(deps, reply, { kind: 'link', personId: person.id }, request.body.return_to)
    },
  )

  app.delete(
    '/me/identities/:id',
    {
      schema: {
        tags: ['Me'],
        operationId: 'me.unlinkIdentity',
        summary: 'Unlink an account with the provider',
        description:
          'Unlinks it, and ends all other sessions. The last way to sign in stays: set a password first. Needs an authentication within the last ten minutes.',
        params: identityParams,
        response: { 200: identityUnlinked, ...REFUSED },
      },
    },
    async (request) => {
      await deps.ownIdentities.unlink(changerOf(request), request.params.id)
      return { message: 'Account unlinked. All other sessions have ended.' as const }
    },
  )
}

async function start(
  deps: OidcRouteDependencies,
  reply: FastifyReply,
  intent: OidcIntent,
  returnTo: string | undefined,
): Promise<{ url: string }> {
  try {
    const { url, setCookie } = await beginOidc(deps, intent, returnTo)
    reply.header('Set-Cookie', setCookie)
    return { url }
  } catch (error) {
    if (!(error instanceof OidcFault)) throw error
    logOidcFault(reply.request, error)
    const message = 'The provider of single sign-on cannot be reached. Try again.'
    throw Failure.unavailable(error, { kind: 'single_sign_on', message })
  }
}

/** @throws {OidcFault} `oidc_unavailable` */
async function beginOidc(
  { oidc, baseUrl }: OidcRouteDependencies,
  intent: OidcIntent,
  returnTo: string | undefined,
): Promise<{ readonly url: string; readonly setCookie: string }> {
  const { provider, attempts } = requireOidc(oidc)
  const { attempt, setCookie } = attempts.begin(intent, localPath(returnTo, baseUrl))
  return { url: await provider.authorizationUrl(attempt), setCookie }
}

/** @throws {HttpRefusal} `not_found` without single sign-on */
function requireOidc(oidc: Oidc | undefined): Oidc {
  if (oidc !== undefined) return oidc
  throw new HttpRefusal('not_found', 'This instance has no single sign-on (TERSE_OIDC_ISSUER).')
}

function logOidcFault(request: FastifyRequest, { code, details }: OidcFault): void {
  request.log.warn({ reqId: request.id, code, ...details }, 'single sign-on failed')
}

const LENGTH_MAX = 500

/** Where people arrive who asked for no other page. */
const HOME_PATH = '/app/'

/**
 * Returns the path of a page of the dashboard, for a redirect after sign-in. Anything else becomes its first
 * page: other origins, and other paths of the service's host, which may be short links to anywhere.
 */
export function localPath(text: string | undefined, baseUrl: string): string {
  if (text === undefined || text.length > LENGTH_MAX || !/^\/app(?:[/?#]|$)/.test(text)) {
    return HOME_PATH
  }
  const url = URL.parse(text, baseUrl)
  if (url === null || url.origin !== new URL(baseUrl).origin) return HOME_PATH
  const isDashboard = url.pathname === '/app' || url.pathname.startsWith('/app/')
  // A way through the provider again would begin a loop.
  if (!isDashboard || url.pathname.startsWith('/app/oidc/')) return HOME_PATH
  return `${url.pathname}${url.search}${url.hash}`
}
