import type { FastifyReply, FastifyRequest } from 'fastify'

/** The request headers that a browser may send; `Authorization` must be named, no wildcard covers it. */
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'

/** The response headers that a script may read, besides those that every script may. */
const RESPONSE_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
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
 * Lets scripts of any origin read the answers of the API. They must send a token themselves: without
 * `Access-Control-Allow-Credentials` a browser hides every answer to a request that carried cookies.
 * Paths outside `/api/` are left out: people visit those with a browser, and sessions belong there.
 */
export function allowOtherOrigins(request: FastifyRequest, reply: FastifyReply): void {
  if (!request.url.startsWith('/api/')) return
  reply.headers({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': RESPONSE_HEADERS,
  })
}

/**
 * Whether this is a browser's question before a request to another origin. It carries no token, and is
 * answered alike on every path, so that the request itself gets its 404 or 405 and a script can read it.
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
