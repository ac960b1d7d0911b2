import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerClientError } from './client-error.ts'
import type { Activity } from './connections/connection.ts'
import type { Connections } from './connections/connections.ts'
import { gateInput, startInTurn, waitingRequests } from './connections/input-gate.ts'
import { PacedResponse } from './connections/paced-response.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { FastServer } from './fast/fast-server.ts'
import { http } from './node-http.ts'
import {
  HEADERS_TIMEOUT_MS,
  KEEP_ALIVE_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  STANDSTILL_TIMEOUT_MS,
} from './time-limits.ts'

const TIMEOUT_CHECK_INTERVAL_MS = 2_000
/** Extra time for a request that the client sent just before the advertised time-out. */
const KEEP_ALIVE_BUFFER_MS = 1_000
const HEADER_BYTES_MAX = 16 * 1024
/** The memory of a parsed request that waits for the answer before it. */
const WAITING_REQUEST_BYTES = 4 * 1024

const OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  keepAliveTimeoutBuffer: KEEP_ALIVE_BUFFER_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  requireHostHeader: false,
  // Node's types do not allow a subclass here.
  ServerResponse: PacedResponse as typeof ServerResponse,
} as const

/**
 * Creates Node's HTTP server with this service's limits: each connection has at most one answer under way,
 * and clients that send or read too slowly are disconnected.
 *
 * @param options.answer called for each request, after the answers before it on its connection; also for
 *   HTTP/2 requests, which their server emits here as `request` events
 * @param options.answerFast as in `FastConnectionOwner`; undefined turns the fast path off
 * @param options.onMalformed called with a code for input that is not HTTP or arrives too slowly
 */
export function createFrontServer(options: {
  answer: (request: IncomingMessage, response: ServerResponse) => void
  answerFast: ((exchange: FastExchange) => boolean) | undefined
  connections: Connections | undefined
  onMalformed: ((code: string) => void) | undefined
}): Server {
  const { answer, answerFast, connections, onMalformed } = options
  /** The newest answer of each connection, started or not. */
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  /** The answer of each connection that is under way, or the last one. */
  const answers = new WeakMap<Socket, ServerResponse>()

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    if (isHttp2(request)) {
      connections?.noteStart()
      answer(request, response)
      return
    }
    lastAnswers.set(request.socket, response)
    startInTurn(request.socket, response, () => {
      answers.set(request.socket, response)
      connections?.noteStart()
      // While the server closes, each connection ends after its current answer.
      if (!server.listening) response.shouldKeepAlive = false
      // Node drops what follows such a request in the same packet, so the client must not expect
      // an answer to it.
      if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
      answer(request, response)
    })
  }

  function beginGeneral(socket: Socket): void {
    gateInput(socket)
    connections?.describe(socket, {
      get isIdle() {
        return lastAnswers.get(socket)?.writableFinished !== false
      },
      get unsentBytes() {
        const answer = answers.get(socket)
        const heldBytes = answer instanceof PacedResponse ? answer.heldBytes : 0
        return heldBytes + socket.writableLength + waitingRequests(socket) * WAITING_REQUEST_BYTES
      },
    })
  }

  const beginFast = (socket: Socket, activity: Activity) => connections?.describe(socket, activity)
  const server =
    answerFast === undefined
      ? new http.Server(OPTIONS, onRequest).on('connection', beginGeneral)
      : new FastServer(
          {
            ...OPTIONS,
            standstillTimeout: STANDSTILL_TIMEOUT_MS,
            answer: answerFast,
            onOpen: beginFast,
            onHandOver: beginGeneral,
          },
          onRequest,
        )
  server.timeout = STANDSTILL_TIMEOUT_MS
  server.prependListener('connection', (socket) => connections?.accept(socket))
  server.on('timeout', (socket) => {
    // Node counts only whole writes, and that of a large answer to a slow reader takes long.
    if (connections?.hasMoved(socket, STANDSTILL_TIMEOUT_MS)) {
      socket.setTimeout(STANDSTILL_TIMEOUT_MS)
    } else socket.destroy()
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    onMalformed?.(error.code ?? error.name)
    answerClientError(error, socket, lastAnswers.get(socket))
  })
  return server
}

/** Checks a pseudo-header, which HTTP/1 cannot have; an HTTP/1 request line may claim any version. */
export function isHttp2({ headers }: IncomingMessage): boolean {
  return headers[':method'] !== undefined
}
