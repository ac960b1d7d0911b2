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
/** For a request that was sent just before the client was told. */
const KEEP_ALIVE_BUFFER_MS = 1_000
const HEADER_BYTES_MAX = 16 * 1024
/** What a request costs that was read and waits for its turn. */
const WAITING_REQUEST_BYTES = 4 * 1024

const OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  requestTimeout: REQUEST_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
  keepAliveTimeoutBuffer: KEEP_ALIVE_BUFFER_MS,
  maxHeaderSize: HEADER_BYTES_MAX,
  requireHostHeader: false,
  // Its types allow no class but their own.
  ServerResponse: PacedResponse as typeof ServerResponse,
} as const

/**
 * Node's HTTP server within this service's limits: at most one answer of a connection is under way, and
 * who sends or reads too slowly is cut off.
 *
 * @param options.answer called for each request, when it is its turn; also for those of HTTP/2 that
 *   another server hands on by the event `request`
 * @param options.answerFast as in `FastConnectionOwner`; undefined where no visits are answered the fast way
 * @param options.onMalformed called for what is not HTTP, or takes too long to come, with a code
 */
export function createFrontServer(options: {
  answer: (request: IncomingMessage, response: ServerResponse) => void
  answerFast: ((exchange: FastExchange) => boolean) | undefined
  connections: Connections | undefined
  onMalformed: ((code: string) => void) | undefined
}): Server {
  const { answer, answerFast, connections, onMalformed } = options
  /** The newest answer of each connection, begun or not. */
  const lastAnswers = new WeakMap<Socket, ServerResponse>()
  /** The one that is under way, or was last. */
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
      // While the server closes, a connection ends with the answer that is under way.
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
    // Node looks at whole writes, and one of a large answer to a slow reader takes its time.
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

/** The version alone does not tell: a line of HTTP/1 may claim any. No header of HTTP/1 has such a name. */
export function isHttp2({ headers }: IncomingMessage): boolean {
  return headers[':method'] !== undefined
}
