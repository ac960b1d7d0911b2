import { problemSchema } from '@terse/contract/errors'
import type { FastifyInstance } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { BODY_BYTES_MAX, bodyTooLarge } from './validation.ts'

/** The instance that a plugin receives: a route added to it takes its types from its Zod schemas. */
export type FastifyInstanceZod = Parameters<FastifyPluginAsyncZod>[0]

/** The failures of every route. */
const ALWAYS = {
  405: problemSchema.describe('This path does not have the method; `Allow` names those it has.'),
  426: problemSchema.describe('The request came over plain HTTP, and the service has HTTPS.'),
  429: problemSchema.describe(
    'The token, person or workspace has used up its requests for this minute, or has too many under way.',
  ),
  500: problemSchema.describe('A fault of the service; `message` has the id of the request.'),
  503: problemSchema.describe('The database is unavailable, or the service is overloaded.'),
}

/** The failures of every route that needs this. */
const FAILURES = {
  workspace: {
    400: problemSchema.describe(
      'The request is malformed, or has a session and no `Terse-Workspace`.',
    ),
    401: problemSchema.describe(
      'The token is absent, unknown, expired or revoked, or the session has ended.',
    ),
    403: problemSchema.describe(
      'The token lacks the scope, or the person lacks the role, has to authenticate again, or sent it from a page of another origin.',
    ),
    404: problemSchema.describe('There is no such workspace, or the person is no member of it.'),
    ...ALWAYS,
  },
  session: {
    401: problemSchema.describe('The session is absent or has ended.'),
    403: problemSchema.describe(
      'The person has to authenticate again, may not do this, or sent it from a page of another origin.',
    ),
    ...ALWAYS,
  },
  nothing: {
    401: problemSchema.describe(
      'What was sent to sign in is wrong, or a second factor is missing.',
    ),
    403: problemSchema.describe('It was sent from a page of another origin.'),
    ...ALWAYS,
    429: problemSchema.describe(
      'Too many requests or wrong attempts from this address or at this account.',
    ),
  },
}

/** What a route needs: a token or session in a workspace, a session, or nothing. */
export type RouteNeeds = keyof typeof FAILURES

const MALFORMED_ADDRESS = { 400: problemSchema.describe('The address is malformed.') }

export const NOT_FOUND = {
  404: problemSchema.describe('Not found, or the client may not see it.'),
}

/** Of bodies that are ignored too: they must be valid JSON. */
const MALFORMED_BODY = {
  400: problemSchema.describe('The address or the body is malformed.'),
  ...tooLargeFor(BODY_BYTES_MAX),
  415: problemSchema.describe('The body is not sent as JSON.'),
}

/** Of a route with a body; one without adds it where it may be refused by the rules of its module. */
export const REFUSED = { 422: problemSchema.describe('Fields are wrong; `errors` names them.') }

const INVALID_QUERY = { 422: problemSchema.describe('Parameters are wrong; `errors` names them.') }

/** By the header of a request that leads to it. */
const OF_HEADERS = {
  'if-none-match': {
    304: z.null().describe('The answer is the one that `If-None-Match` names.'),
  },
  'if-match': {
    412: problemSchema.describe(
      'The resource was changed since the version that `If-Match` names.',
    ),
  },
  'idempotency-key': {
    409: problemSchema.describe('The Idempotency-Key was used for a different request.'),
  },
}

/** The parts of a route's schema from which its failures follow. */
type TakenParts = {
  readonly params?: unknown
  readonly querystring?: unknown
  readonly body?: unknown
  readonly headers?: unknown
  readonly response?: unknown
}

/** Returns the answers of a route: its own, and the failures that follow from its method, from what it takes and needs. */
export function answersOf(
  { params, querystring, body, headers, response = {} }: TakenParts,
  { method, needs }: { readonly method: string; readonly needs: RouteNeeds },
): object {
  const isRead = method === 'GET'
  const takesQuery = isRead ? querystring : method === 'POST'
  const ofHeaders = Object.entries(OF_HEADERS).map(([name, failures]) =>
    headers instanceof z.ZodObject && name in headers.shape ? failures : {},
  )
  return Object.assign(
    {},
    params && MALFORMED_ADDRESS,
    // A POST may have an `Idempotency-Key` that it does not honour.
    takesQuery && INVALID_QUERY,
    !isRead && MALFORMED_BODY,
    body && REFUSED,
    ...ofHeaders,
    FAILURES[needs],
    params && NOT_FOUND,
    response,
  )
}

export function tooLargeFor(bytesMax: number) {
  return { 413: problemSchema.describe(bodyTooLarge(bytesMax)) }
}

export const REFUSED_AS_USED = {
  409: problemSchema.describe('It is in use; `details` names what uses it.'),
}

export const CHECKED_LATELY = {
  429: problemSchema.describe(
    'A check of this domain was requested less than a minute ago, or the token has used up its requests.',
  ),
}

/**
 * Sets `Location` in the answer to a create, where a `GET` shows what was created: of `POST /links`, for which there is
 * `GET /links/:id`, it is `/links/<id>`. Call before the routes are registered.
 */
export function locateCreated(app: FastifyInstance): void {
  const shown = new Set<string>()
  app.addHook('onRoute', (route) => {
    if (route.method === 'GET') shown.add(route.url)
    if (route.method !== 'POST') return
    const others = [route.preSerialization ?? []].flat()
    // The routes that show things may be registered later.
    route.preSerialization = [
      ...others,
      (request, reply, payload: unknown, done) => {
        const { url = '' } = request.routeOptions
        if (reply.statusCode === 201 && shown.has(`${url}/:id`) && hasId(payload)) {
          reply.header('Location', `${url}/${payload.id}`)
        }
        done(null, payload)
      },
    ]
  })
}

function hasId(payload: unknown): payload is { readonly id: string } {
  return typeof payload === 'object' && payload !== null && 'id' in payload
}
