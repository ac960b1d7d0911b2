import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Failure } from '../../platform/failure.ts'
import { addressOf } from '../../platform/http/forwarded.ts'
import type { Throttle } from '../../platform/limits/throttle.ts'
import { subscriberOf } from '../../platform/network/ip-address.ts'
import { personActor } from '../actor.ts'
import { originOf, type SessionRouteDependencies } from '../sessions/routes.ts'
import type { SessionCache, SignedIn } from '../sessions/session-cache.ts'
import type { OidcAttempt } from './oidc-attempts.ts'
import { OidcFault } from './oidc-fault.ts'
import { beginOidc, logOidcFault, type OidcRouteDependencies, requireOidc } from './routes.ts'

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
