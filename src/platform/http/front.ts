import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Networks, networksOf } from '../network/ip-address.ts'
import { problem } from './api/problem.ts'
import type { Connections } from './connections/connections.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { arrivedSecurely } from './forwarded.ts'
import { createFrontServer, isHttp2 } from './front-server.ts'
import { http } from './node-http.ts'
import { answerPlain, isChallengePath, type PlainHttp, redirectToHttps } from './plain-http.ts'
import { parseHost, parseRequestTarget, type RequestTarget } from './request-target.ts'

type FrontHandlers = {
  /** Whether the service itself answers this target; every other target is a visit to a link. */
  readonly isForApi: (target: RequestTarget) => boolean
  readonly api: (request: IncomingMessage, response: ServerResponse) => void
  readonly redirect: (
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
  ) => void
  /** Answers simple visits on the fast path; undefined turns the fast path off. */
  readonly fastRedirect: ((exchange: FastExchange) => void) | undefined
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
  readonly trustedProxies?: Networks | undefined
  /** `max-age` of the HSTS header on the service's own host; 0 sends none. */
  readonly hstsSeconds?: number
  /** Undefined when the service has no HTTPS. */
  readonly plain?: PlainHttp | undefined
  /** Requests of programs on this machine; undefined when they have a separate listener. */
  readonly internal?: InternalHandlers | undefined
  /** Limits the connections and their memory. */
  readonly connections?: Connections | undefined
  /** Called with a code for input that is not HTTP or arrives too slowly. */
  readonly onMalformed?: ((code: string) => void) | undefined
}

/**
 * Creates the HTTP server. Requests for the service's own host go to the API; every other request is a
 * visit to a link.
 */
export function createFront(handlers: FrontHandlers): Server {
  const { isForApi, plain, internal, onMalformed } = handlers
  const { hstsSeconds = 0, trustedProxies = new Networks() } = handlers

  function isSecure({ socket, headers }: IncomingMessage): boolean {
    const { remoteAddress = '' } = socket
    const arrival = { isEncrypted: 'encrypted' in socket, remoteAddress }
    return arrivedSecurely(arrival, headers['x-forwarded-proto'], trustedProxies)
  }

  function answer(request: IncomingMessage, response: ServerResponse, target: RequestTarget): void {
    if (isForApi(target)) {
      if (hstsSeconds > 0 && isSecure(request)) {
        response.setHeader('Strict-Transport-Security', `max-age=${hstsSeconds}`)
      }
      request.url = target.query === '' ? target.path : `${target.path}?${target.query}`
      handlers.api(request, response)
    } else {
      handlers.redirect(request, response, target)
    }
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const target = targetOf(request)
    if (target === undefined) {
      onMalformed?.('invalid_target')
      refuse(request, response)
    } else if (
      internal !== undefined &&
      isInternalPath(target.path) &&
      isFromThisMachine(request, target)
    ) {
      answerInternal(internal, request, response, target)
    } else if (plain !== undefined && !isSecure(request)) {
      answerPlain(plain, request, response, target, {
        isForService: isForApi(target),
        otherwise: () => answer(request, response, target),
      })
    } else {
      answer(request, response, target)
    }
  }

  /** Returns false for a request that Node's server must answer. */
  function answerFast(exchange: FastExchange, redirect: (exchange: FastExchange) => void): boolean {
    const { target, headers } = exchange
    if (isForApi(target) || isInternalPath(target.path)) return false
    if (
      plain !== undefined &&
      !arrivedSecurely(exchange, headers['x-forwarded-proto'], trustedProxies)
    ) {
      if (isChallengePath(target.path)) return false
      const location = plain.locationOf(target)
      if (location instanceof Promise) return false
      if (location !== undefined) {
        redirectToHttps(exchange, location)
        return true
      }
    }
    redirect(exchange)
    return true
  }

  const { fastRedirect } = handlers
  return createFrontServer({
    answer: serve,
    answerFast: fastRedirect && ((exchange) => answerFast(exchange, fastRedirect)),
    connections: handlers.connections,
    onMalformed,
  })
}

/** HTTP/2 carries the host in `:authority` (RFC 9113, section 8.3.1). */
function targetOf(request: IncomingMessage): RequestTarget | undefined {
  const { url = '', rawHeaders, headers } = request
  if (!isHttp2(request)) {
    return request.httpVersionMajor === 1 ? parseRequestTarget(url, rawHeaders) : undefined
  }
  if (!url.startsWith('/')) return undefined
  const authority = headers[':authority'] ?? headers.host
  return typeof authority === 'string' ? parseRequestTarget(url, ['host', authority]) : undefined
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const requestId = randomUUID()
  const message = 'The request needs one valid Host and target.'
  const body = JSON.stringify(problem('bad_request', message, requestId))
  response.writeHead(400, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Request-Id': requestId,
    ...(!isHttp2(request) && { Connection: 'close' }),
  })
  response.end(body)
}

/** Requests that are answered for other programs on this machine, and never for visitors. */
export type InternalHandlers = {
  /** Whether this service serves a host, so that a proxy may obtain a certificate for it. */
  readonly isServed: (host: string) => boolean | Promise<boolean>
}

const ALLOW_PATH = '/internal/tls/allow'
/** A proxy adds one of these, so a request with any of them is a visitor's. */
const PROXY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'] as const
const TIMEOUT_MS = 10_000
const LOOPBACK = networksOf(['127.0.0.0/8', '::1'])

/** Creates a separate listener for internal requests; it answers every client that can reach it. */
export function createInternalServer(handlers: InternalHandlers): Server {
  return new http.Server(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS },
    (request, response) => {
      const target = parseRequestTarget(request.url ?? '', request.rawHeaders)
      if (target?.path === ALLOW_PATH) answerInternal(handlers, request, response, target)
      else send(request, response, 404)
    },
  )
}

function isInternalPath(path: string): boolean {
  return path === ALLOW_PATH
}

/** Whether a program on this machine sent the request itself, not as a proxy for a visitor. */
function isFromThisMachine(request: IncomingMessage, { host }: RequestTarget): boolean {
  return (
    LOOPBACK.has(request.socket.remoteAddress ?? '') &&
    (host === 'localhost' || LOOPBACK.has(host.replace(/^\[(.*)\]$/, '$1'))) &&
    PROXY_HEADERS.every((name) => request.headers[name] === undefined)
  )
}

/** Answers 200 when this service serves the host, 404 when not. */
function answerInternal(
  { isServed }: InternalHandlers,
  request: IncomingMessage,
  response: ServerResponse,
  { query }: RequestTarget,
): void {
  const host = parseHost(new URLSearchParams(query).get('domain') ?? '')
  const answer = (served: boolean) => send(request, response, served ? 200 : 404)
  if (request.method !== 'GET' && request.method !== 'HEAD') send(request, response, 405)
  else if (host === undefined) send(request, response, 400)
  else {
    const served = isServed(host)
    if (served instanceof Promise) served.then(answer, () => send(request, response, 503))
    else answer(served)
  }
}

function send(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.resume()
  response.writeHead(status, { 'Content-Length': '0', 'Cache-Control': 'no-store' })
  response.end()
}
