import type { IncomingMessage, ServerResponse } from 'node:http'
import { problem } from './api/problem.ts'
import type { RequestTarget } from './request-target.ts'

/** What plain HTTP is for where there is HTTPS. */
export type PlainHttp = {
  /** Where a request is to go instead; undefined where it is answered as it is. */
  readonly locationOf: (target: RequestTarget) => string | undefined | Promise<string | undefined>
  /** What a certificate authority wants to read of a host; undefined where it has asked for nothing. */
  readonly findChallenge: (host: string, token: string) => Promise<string | undefined>
}

/** Where a certificate authority looks (RFC 8555, section 8.3). */
const CHALLENGE_PREFIX = '/.well-known/acme-challenge/'
/** Base64url, of at least 128 bits; nobody's are longer than this. */
const TOKEN = /^[\w-]{1,256}$/

/**
 * Not to be kept: a certificate that cannot be renewed one day must not leave visitors in front of a
 * door that their browser remembers.
 */
const MOVED_HEADERS = { 'Cache-Control': 'private, no-store', 'Content-Length': '0' }
const RETRY_AFTER_SECONDS = 2

export function isChallengePath(path: string): boolean {
  return path.startsWith(CHALLENGE_PREFIX)
}

/**
 * Answers what came over plain HTTP, or leaves it to `otherwise`, which answers as over HTTPS.
 *
 * @param isForService whether the service itself answers the target, not a link
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
    // Where the store cannot say, the request gets what it would get without HTTPS.
    location.catch(() => undefined).then(answer)
  } else answer(location)
}

/** A visit that is sent on, on a connection that is answered the fast way. */
export function moveVisit(
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

/** By its path in any letter case, or a token: neither may be sent on, even where nothing answers. */
function isApiCall({ headers }: IncomingMessage, { path }: RequestTarget): boolean {
  return /^\/api(?:\/|$)/i.test(path) || headers.authorization !== undefined
}

/**
 * Refuses a request to the API. A redirect would hide from the client's author that every request sends
 * the token unencrypted first, and many clients turn a redirected `POST` into a `GET`.
 */
function requireHttps(request: IncomingMessage, response: ServerResponse, location: string): void {
  request.resume()
  const advice =
    request.headers.authorization === undefined
      ? ''
      : ' The token of this request was sent unencrypted: revoke it and make a new one.'
  const message = `The API is served over HTTPS: use ${new URL(location).origin}.${advice}`
  const body = JSON.stringify(problem('https_required', message))
  response.writeHead(426, {
    Connection: 'Upgrade',
    Upgrade: 'TLS/1.2, HTTP/1.1',
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Content-Type-Options': 'nosniff',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** 308 where the method must stay; 301 is what even the oldest client knows. */
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
