import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isReservedKey } from '../domain/links/key.ts'
import { arrivedSecurely } from '../lib/arrived-securely.ts'
import { Networks } from '../lib/ip-address.ts'
import { http } from '../lib/node-http.ts'
import { parseRequestTarget, type RequestTarget } from '../lib/request-target.ts'
import { answerClientError } from './client-error.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { FastServer } from './fast/fast-server.ts'
import { gateInput, startInTurn } from './input-gate.ts'
import {
  answerInternal,
  type InternalHandlers,
  isFromThisMachine,
  isInternalPath,
} from './internal.ts'
import { answerPlain, isChallengePath, moveVisit, type PlainHttp } from './plain-http.ts'
import { problem } from './problem.ts'
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  STANDSTILL_TIMEOUT_MS,
} from './time-limits.ts'

const TIMEOUT_CHECK_INTERVAL_MS = 2_000
/** For a request that was sent just before the client was told. */
const KEEP_ALIVE_BUFFER_MS = 1_000
const HEADER_BYTES_MAX = 16 * 1024

const OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  keepAliveTimeoutBuffer: KEEP_ALIVE_BUFFER_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  requireHostHeader: false,
} as const

export type FrontHandlers = {
  /** Whether this host is the service's own. */
  readonly isServiceHost: (host: string) => boolean
  readonly api: (request: IncomingMessage, response: ServerResponse) => void
  readonly redirect: (
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
  ) => void
  /** Answers simple visits the fast way; undefined where none are to be. */
  readonly fastRedirect: ((exchange: FastExchange) => void) | undefined
  /** Proxies that may say how a request came to them. */
  readonly trustedProxies?: Networks | undefined
  /** For how long browsers are asked to reach the service itself over HTTPS alone; 0 for nothing. */
  readonly hstsSeconds?: number
  /** Undefined where there is no HTTPS. */
  readonly plain?: PlainHttp | undefined
  /** Answered to programs of this machine; undefined where they have a listener of their own. */
  readonly internal?: InternalHandlers | undefined
}

/**
 * The HTTP server. What the service itself answers on its own host goes to the API; every other
 * request is a visit to a link.
 */
export function createFront(handlers: FrontHandlers): Server {
  /** The newest answer of each connection, begun or not. */
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  const { plain, internal, hstsSeconds = 0, trustedProxies = new Networks() } = handlers
  const isForApi = ({ host, path }: RequestTarget) =>
    handlers.isServiceHost(host) && isServicePath(path)

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

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (isHttp2(request)) {
      serve(request, response)
    } else {
      lastAnswers.set(request.socket, response)
      startInTurn(request.socket, response, () => serve(request, response))
    }
  }

  function serve(request: IncomingMessage, response: ServerResponse): void {
    if (!isHttp2(request)) {
      // While the server closes, a connection ends with the answer that is under way.
      if (!server.listening) response.shouldKeepAlive = false
      // Node drops what follows such a request in the same packet, so the client must not expect
      // an answer to it.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    }
    const target = targetOf(request)
    if (target === undefined) {
      refuse(request, response)
    } else if (
      internal !== undefined &&
      isInternalPath(target.path) &&
      isFromThisMachine(request, target)
    ) {
      answerInternal(internal, request, response, target)
    } else if (plain !== undefined && !isSecure(request)) {
      answerPlain(plain, request, response, target, () => answer(request, response, target))
    } else {
      answer(request, response, target)
    }
  }

  /** False for what is not answered the fast way. */
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
        moveVisit(exchange, location)
        return true
      }
    }
    redirect(exchange)
    return true
  }

  const server = createServer(handlers.fastRedirect, answerFast, onRequest)
  server.timeout = STANDSTILL_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerClientError(error, socket, lastAnswers.get(socket))
  })
  return server
}

function createServer(
  fastRedirect: FrontHandlers['fastRedirect'],
  answerFast: (exchange: FastExchange, redirect: (exchange: FastExchange) => void) => boolean,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  if (fastRedirect === undefined)
    return new http.Server(OPTIONS, onRequest).on('connection', gateInput)
  const answer = (exchange: FastExchange) => answerFast(exchange, fastRedirect)
  return new FastServer({ ...OPTIONS, standstillTimeout: STANDSTILL_TIMEOUT_MS, answer }, onRequest)
}

/** The version alone does not tell: a line of HTTP/1 may claim any. No header of HTTP/1 has such a name. */
function isHttp2({ headers }: IncomingMessage): boolean {
  return headers[':method'] !== undefined
}

/** In HTTP/2 the host has a place of its own (RFC 9113, section 8.3.1). */
function targetOf(request: IncomingMessage): RequestTarget | undefined {
  const { url = '', rawHeaders, headers } = request
  if (!isHttp2(request)) {
    return request.httpVersionMajor === 1 ? parseRequestTarget(url, rawHeaders) : undefined
  }
  if (!url.startsWith('/')) return undefined
  const authority = headers[':authority'] ?? headers.host
  return typeof authority === 'string' ? parseRequestTarget(url, ['host', authority]) : undefined
}

function isServicePath(path: string): boolean {
  return path === '/' || isReservedKey(path.slice(1))
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const body = JSON.stringify(
    problem('bad_request', 'The request needs one valid Host and target.'),
  )
  response.writeHead(400, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    ...(!isHttp2(request) && { Connection: 'close' }),
  })
  response.end(body)
}
