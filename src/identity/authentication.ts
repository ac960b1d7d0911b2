import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { isUuid } from '../platform/crypto/random.ts'
import { Failure, isUnavailable } from '../platform/failure.ts'
import { HttpRefusal } from '../platform/http/api/problem.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type Actor, personActor } from './actor.ts'
import {
  type Access,
  isOperation,
  isPermission,
  OPERATION_ACCESS,
  type Operation,
  requireAccess,
  takesTokens,
} from './permissions.ts'
import { FRESH_MICROS, type SessionCookie } from './sign-in/session.ts'
import type { SessionCache, SignedIn } from './sign-in/sessions.ts'
import type { Authenticator } from './tokens.ts'

/** Why an answer breaks off in the middle. */
class AccessEnded extends Error {
  override readonly name = 'AccessEnded'
}

/**
 * Breaks off the streamed answer to an operation, such as an export, once its caller may no longer perform it: the
 * session or token has ended, or the role has changed. Call before answers are compressed.
 */
export function breakOffWithAccess(app: FastifyInstance, deps: AuthenticationDependencies): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { actor, method, routeOptions } = request
    // An endless answer asks by itself, to end with an event. To HEAD nothing is sent.
    const isGuarded = actor !== null && method !== 'HEAD' && !routeOptions.config.isEndless
    const isStream = payload instanceof Readable
    done(null, isGuarded && isStream ? whileAllowed(deps, request, payload) : payload)
  })
}

function whileAllowed(
  deps: AuthenticationDependencies,
  request: FastifyRequest,
  source: Readable,
): Readable {
  async function* chunks() {
    for await (const chunk of source) {
      if (!(await mayStill(deps, request))) {
        throw new AccessEnded('The caller may no longer have this answer.')
      }
      yield chunk
    }
  }
  const stream = Readable.from(chunks(), { objectMode: false })
  // The loop does not end its source when the answer is closed before it was begun.
  stream.once('close', () => source.destroy())
  return stream
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `nameOperations`. A route without one is open to all. */
    operation?: Operation
  }
  interface FastifyRequest {
    /** Null until the request is authenticated, and where the sender is unknown. */
    actor: Actor | null
    /** Who is signed in; null for requests with a token or without a session. */
    signedIn: SignedIn | null
  }
}

export type AuthenticationDependencies = {
  readonly authenticator: Authenticator
  /**
   * Finds the person in whose name a program sends an access token, with what it may do; undefined for other tokens.
   * Undefined for a node without the API.
   *
   * @throws {Failure} `unauthorized`
   */
  readonly findProgram?: ((secret: string) => Promise<Actor> | undefined) | undefined
  readonly sessionCache: SessionCache
  readonly sessionCookie: SessionCookie
  readonly clock: Clock
  readonly baseUrl: string
}

const WORKSPACE_PATH = '/api/v1/workspaces/:id'

/** How the description shows what an operation accepts. */
const TOKEN_OR_SESSION = [{ token: [] }, { session: [] }]
const SESSION = [{ session: [] }]

/**
 * Gives each described route the operation that its description names. Call before the routes are
 * registered.
 *
 * @throws for a described route that `OPERATION_ACCESS` lacks: it would be open to all
 */
export function nameOperations(app: FastifyInstance): void {
  app.decorateRequest('actor', null)
  app.decorateRequest('signedIn', null)
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith('/api/') || route.schema?.hide === true) return
    const operation = route.schema?.operationId
    if (!isOperation(operation)) throw new Error(`${route.url} has no permission: ${operation}`)
    route.config = { ...route.config, operation }
    route.schema = { ...route.schema, security: securityOf(OPERATION_ACCESS[operation]) }
  })
}

function securityOf(access: Access) {
  if (access === 'open') return []
  return takesTokens(access) ? TOKEN_OR_SESSION : SESSION
}

/** Names a call in `calls`. The value cannot be guessed, so no request from outside has one. */
const CALL_HEADER = 'terse-internal-call'
/** The actors of requests that parts of this process send to the API, while they are being answered. */
const calls = new Map<string, Actor>()

/**
 * Sends a request to an operation of the API within this process, in the name of an actor. It is checked and answered as
 * one that arrives from outside, but for authentication and the limits of requests, which the sender sees to.
 */
export async function callAs(app: FastifyInstance, actor: Actor, request: InjectOptions) {
  const call = randomUUID()
  calls.set(call, actor)
  try {
    return await app.inject({ ...request, headers: { ...request.headers, [CALL_HEADER]: call } })
  } finally {
    calls.delete(call)
  }
}

/** The actor of a request that `callAs` sends; undefined for all others. */
export function callerOf({ headers }: Pick<FastifyRequest, 'headers'>): Actor | undefined {
  const call = headers[CALL_HEADER]
  return typeof call === 'string' ? calls.get(call) : undefined
}

/**
 * Finds who sent a request to an operation. A request with an `Authorization` header is made with a token, and
 * its cookies are ignored.
 */
export async function authenticate(
  deps: AuthenticationDependencies,
  request: FastifyRequest,
): Promise<void> {
  const { operation } = request.routeOptions.config
  if (operation === undefined) return
  const caller = callerOf(request)
  if (caller !== undefined) {
    request.actor = caller
    return
  }
  const access: Access = OPERATION_ACCESS[operation]
  const { authorization, cookie } = request.headers
  const secret = authorization === undefined ? deps.sessionCookie.read(cookie) : undefined
  if (secret !== undefined) {
    await authenticateSession(deps, request, access, secret)
  } else if (access === 'open') {
    refuseOtherOrigins(request, deps.baseUrl)
  } else {
    const bearer = bearerOf(authorization)
    const program = await deps.findProgram?.(bearer)
    // What belongs to the account of the person is not lent.
    if (program !== undefined && !isPermission(access)) {
      throw Failure.missingRole({ code: 'people_only' })
    }
    const actor = program ?? (await deps.authenticator.authenticate(bearer))
    const inPath = workspaceInPath(request)
    if (inPath !== undefined && inPath !== actor.workspaceId) throw workspaceNotFound(inPath)
    request.actor = { ...actor, requestId: request.id }
  }
}

/** Checks that the request's actor may perform the operation of its route. */
export function authorize(request: FastifyRequest, { isBegun = false } = {}): void {
  const { operation } = request.routeOptions.config
  if (operation === undefined || OPERATION_ACCESS[operation] === 'open') return
  const actor = actorOf(request)
  requireAccess(isBegun ? { ...actor, hasAuthenticatedRecently: true } : actor, operation)
}

/**
 * Whether the sender of a request whose answer lasts may still perform its operation. True while that cannot
 * be found out. A recent authentication was needed to begin, and is not needed to go on.
 */
export async function mayStill(
  deps: AuthenticationDependencies,
  request: FastifyRequest,
): Promise<boolean> {
  try {
    await authenticate(deps, request)
    authorize(request, { isBegun: true })
    return true
  } catch (error) {
    return isUnavailable(error)
  }
}

/** The actor of a request that has been authenticated. */
export function actorOf({ actor, url }: FastifyRequest): Actor {
  if (actor === null) throw new Error(`${url} needs no authentication, so its request has no actor`)
  return actor
}

/** Who is signed in, on routes that need a session. */
export function signedInOf({ signedIn, url }: FastifyRequest): SignedIn {
  if (signedIn === null) throw new Error(`${url} needs no session`)
  return signedIn
}

async function authenticateSession(
  { sessionCache, clock, baseUrl }: AuthenticationDependencies,
  request: FastifyRequest,
  access: Access,
  secret: string,
): Promise<void> {
  requireSameOrigin(request, baseUrl)
  const signedIn = await sessionCache.find(secret)
  if (signedIn === undefined) {
    if (access === 'open') return
    throw Failure.unauthorized({ code: 'session_ended' })
  }
  const { person, session } = signedIn
  const isRecent = clock.nowMicros() - session.authenticated_at < FRESH_MICROS
  const membership = isPermission(access) ? membershipFor(request, signedIn) : undefined
  const actor = personActor(person, membership, isRecent)
  request.actor = { ...actor, sessionId: session.id, requestId: request.id }
  request.signedIn = signedIn
}

/** The person's membership in the workspace that the request names, by its path or else by the header. */
function membershipFor(request: FastifyRequest, { memberships }: SignedIn) {
  const named = workspaceInPath(request) ?? request.headers['terse-workspace']
  if (typeof named !== 'string') {
    throw new HttpRefusal(
      'bad_request',
      'Send the header Terse-Workspace with the identifier of a workspace; GET /api/v1/session lists yours.',
    )
  }
  const id = named.toLowerCase()
  const membership = memberships.find(({ workspace_id }) => workspace_id === id)
  if (membership === undefined) throw workspaceNotFound(id)
  return membership
}

/** The workspace that the path names; undefined where it names none. */
function workspaceInPath({ routeOptions, params }: FastifyRequest): string | undefined {
  if (!routeOptions.url?.startsWith(WORKSPACE_PATH)) return undefined
  return (params as { readonly id: string }).id.toLowerCase()
}

/** The same where it exists and the caller may not know that. */
function workspaceNotFound(id: string): Failure {
  return Failure.notFound(isUuid(id) ? `Workspace "${id}"` : 'Workspace')
}

export function bearerOf(header: string | undefined): string {
  if (header === undefined) {
    throw Failure.unauthorized({ code: 'no_token' })
  }
  const match = /^Bearer +([^\s]+) *$/i.exec(header)
  if (match?.[1] === undefined) throw Failure.unauthorized({ code: 'malformed_token' })
  return match[1]
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a request that changes something with a cookie, unless the browser reports that a page of the
 * service itself sent it. `same-site` is refused: links' domains may be siblings of the service's host.
 *
 * @throws {Failure} `cross_origin`
 */
function requireSameOrigin({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.has(method)) return
  const site = headers['sec-fetch-site']
  const isSame =
    site === undefined ? headers.origin === new URL(baseUrl).origin : site === 'same-origin'
  if (isSame) return
  const { origin } = new URL(baseUrl)
  throw Failure.crossOrigin({ code: 'foreign_page_with_session', address: baseUrl, origin })
}

/**
 * Refuses a request without a session that a page of another origin sent, such as a sign-in with the account
 * of an attacker. Programs that send neither header are no browsers.
 *
 * @throws {Failure} `cross_origin`
 */
function refuseOtherOrigins({ method, headers }: FastifyRequest, baseUrl: string): void {
  if (SAFE_METHODS.has(method)) return
  const site = headers['sec-fetch-site']
  const isOther =
    site === undefined
      ? headers.origin !== undefined && headers.origin !== new URL(baseUrl).origin
      : site !== 'same-origin' && site !== 'none'
  if (isOther) throw Failure.crossOrigin({ code: 'foreign_page', address: baseUrl })
}
