import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isReservedKey } from '../domain/links/key.ts'
import { http } from '../lib/node-http.ts'
import { parseRequestTarget, type RequestTarget } from '../lib/request-target.ts'
import { answerClientError } from './client-error.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { FastServer } from './fast/fast-server.ts'
import { problem } from './problem.ts'

/** A client that has not sent its head, or its whole request, by then is cut off. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 20_000
/**
 * A connection on which no byte moves for so long is cut off, because nobody reads the answer; after
 * twice as long where Node takes the first bytes of the answer for progress.
 */
const STANDSTILL_TIMEOUT_MS = 20_000
const TIMEOUT_CHECK_INTERVAL_MS = 2_000
const KEEP_ALIVE_TIMEOUT_MS = 65_000
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
}

/**
 * The HTTP server. What the service itself answers on its own host goes to the API; every other
 * request is a visit to a link.
 */
export function createFront(handlers: FrontHandlers): Server {
  /** The newest answer of each connection, begun or not. */
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  const isForApi = ({ host, path }: RequestTarget) =>
    handlers.isServiceHost(host) && isServicePath(path)

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    lastAnswers.set(request.socket, response)
    // While the server closes, a connection ends with the answer that is under way.
    if (!server.listening) response.shouldKeepAlive = false
    // Node drops what follows such a request in the same packet, so the client must not expect
    // an answer to it.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const target =
      request.httpVersionMajor === 1
        ? parseRequestTarget(request.url ?? '', request.rawHeaders)
        : undefined
    if (target === undefined) {
      refuse(request, response)
    } else if (isForApi(target)) {
      request.url = target.query === '' ? target.path : `${target.path}?${target.query}`
      handlers.api(request, response)
    } else {
      handlers.redirect(request, response, target)
    }
  }

  const server = createServer(handlers.fastRedirect, isForApi, onRequest)
  server.timeout = STANDSTILL_TIMEOUT_MS
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    answerClientError(error, socket, lastAnswers.get(socket))
  })
  return server
}

function createServer(
  fastRedirect: FrontHandlers['fastRedirect'],
  isForApi: (target: RequestTarget) => boolean,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  if (fastRedirect === undefined) return new http.Server(OPTIONS, onRequest)
  const answer = (exchange: FastExchange) => {
    if (isForApi(exchange.target)) return false
    fastRedirect(exchange)
    return true
  }
  return new FastServer({ ...OPTIONS, standstillTimeout: STANDSTILL_TIMEOUT_MS, answer }, onRequest)
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
    Connection: 'close',
  })
  response.end(body)
}
