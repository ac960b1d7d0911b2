import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * The request headers that a browser may send. `Authorization` must be listed: no wildcard covers it. `X-API-Key` has the
 * token of clients of Kutt.
 */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Key'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** The response headers that a script may read, besides those that CORS always allows. */
const RESPONSE_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'WWW-Authenticate',
  'X-Request-Id',
].join(', ')

/** Two hours, the longest that Chromium keeps the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = '7200'

/**
 * Lets scripts of any origin read the answers of the API. Scripts must send a token: without
 * `Access-Control-Allow-Credentials` a browser hides every answer to a request that carried cookies.
 * Paths outside `/api/` are excluded, because people visit them in a browser with cookies.
 */
export function allowOtherOrigins(request: FastifyRequest, reply: FastifyReply): void {
  if (!request.url.startsWith('/api/')) return
  reply.headers({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': RESPONSE_HEADERS,
  })
}

/**
 * Whether this is a CORS preflight. It carries no token, and gets the same answer on every path, so that
 * the request that follows gets its own 404 or 405 and a script can read it.
 */
export function isPreflight({ method, url, headers }: FastifyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    url.startsWith('/api/') &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

export function answerPreflight(reply: FastifyReply): FastifyReply {
  return reply
    .code(204)
    .headers({
      'Access-Control-Allow-Methods': METHODS,
      'Access-Control-Allow-Headers': REQUEST_HEADERS,
      'Access-Control-Max-Age': PREFLIGHT_MAX_AGE_SECONDS,
    })
    .send()
}
