import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { problem } from './api/problem.ts'
import type { RequestTarget } from './request-target.ts'

/** How plain HTTP is answered when the service has HTTPS. */
export type PlainHttp = {
  /** The HTTPS URL to redirect a request to; undefined when it is answered over plain HTTP. */
  readonly locationOf: (target: RequestTarget) => string | undefined | Promise<string | undefined>
  /** Returns the answer to an ACME challenge for a host; undefined when none is pending. */
  readonly findChallenge: (host: string, token: string) => Promise<string | undefined>
}

/** Where a certificate authority requests challenges (RFC 8555, section 8.3). */
const CHALLENGE_PREFIX = '/.well-known/acme-challenge/'
/** Base64url of at least 128 bits; no authority uses longer tokens than this. */
const TOKEN = /^[\w-]{1,256}$/

/**
 * Not cacheable: should a certificate expire one day, browsers must not follow a cached redirect to an
 * HTTPS address that no longer works.
 */
const MOVED_HEADERS = { 'Cache-Control': 'private, no-store', 'Content-Length': '0' }
const RETRY_AFTER_SECONDS = 2

export function isChallengePath(path: string): boolean {
  return path.startsWith(CHALLENGE_PREFIX)
}

/**
 * Answers a plain HTTP request with a challenge, a refusal or a redirect to HTTPS; calls `otherwise`, which
 * answers as over HTTPS, for any other.
 *
 * @param isForService whether the target belongs to the service itself, not to a link
 */
export function answerPlain(
  plain: PlainHttp,
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
  { isForService, otherwise }: { isForService: boolean; otherwise: () => void },
): void {
  if (isChallengePath(target.path)) {
    answerChallenge(plain, request, response, target)
    return
  }
  const answer = (location: string | undefined) => {
    if (location === undefined) otherwise()
    else if (isForService && isApiCall(request, target)) requireHttps(request, response, location)
    else move(request, response, location)
  }
  const location = plain.locationOf(target)
  if (location instanceof Promise) {
    // When the database is unavailable, the request is answered as without HTTPS.
    location.catch(() => undefined).then(answer)
  } else answer(location)
}

/** Redirects a visit on the fast path to its HTTPS URL. */
export function redirectToHttps(
  exchange: {
    answer(
      status: number,
      fixed: Readonly<Record<string, string>>,
      own: Readonly<Record<string, string>>,
      body: string,
    ): void
  },
  location: string,
): void {
  exchange.answer(301, MOVED_HEADERS, { Location: location }, '')
}

/** Detected by path, ignoring case, or by token. Neither may be redirected, even without a matching route. */
function isApiCall({ headers }: IncomingMessage, { path }: RequestTarget): boolean {
  return /^\/api(?:\/|$)/i.test(path) || headers.authorization !== undefined
}

/**
 * Refuses a request to the API. With a redirect, the client's author would not notice that every request
 * first sends the token unencrypted, and many clients turn a redirected `POST` into a `GET`.
 */
function requireHttps(request: IncomingMessage, response: ServerResponse, location: string): void {
  request.resume()
  const advice =
    request.headers.authorization === undefined
      ? ''
      : ' The token of this request was sent unencrypted: revoke it and make a new one.'
  const message = `The API is served over HTTPS: use ${new URL(location).origin}.${advice}`
  const requestId = randomUUID()
  const body = JSON.stringify(problem('https_required', message, requestId))
  response.writeHead(426, {
    Connection: 'Upgrade',
    Upgrade: 'TLS/1.2, HTTP/1.1',
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Redirects with 308 when the method must be kept, otherwise with 301, which all clients support. */
function move(request: IncomingMessage, response: ServerResponse, location: string): void {
  request.resume()
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  response.writeHead(isRead ? 301 : 308, { ...MOVED_HEADERS, Location: location })
  response.end()
}

function answerChallenge(
  plain: PlainHttp,
  request: IncomingMessage,
  response: ServerResponse,
  { host, path }: RequestTarget,
): void {
  request.resume()
  const send = (status: number, body: string, headers: Record<string, string> = {}) => {
    response.writeHead(status, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-store',
      ...headers,
    })
    response.end(request.method === 'HEAD' ? '' : body)
  }
  const token = path.slice(CHALLENGE_PREFIX.length)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(405, '', { Allow: 'GET, HEAD' })
  } else if (!TOKEN.test(token)) send(404, '')
  else {
    plain.findChallenge(host, token).then(
      (body) => (body === undefined ? send(404, '') : send(200, body)),
      () => send(503, '', { 'Retry-After': String(RETRY_AFTER_SECONDS) }),
    )
  }
}
