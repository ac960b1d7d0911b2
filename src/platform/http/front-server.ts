import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer, Server as NetServer, type Socket } from 'node:net'
import { answerClientError } from './client-error.ts'
import type { Activity, Connections } from './connections/connections.ts'
import type { FastExchange } from './fast/fast-exchange.ts'
import { FastServer } from './fast/fast-server.ts'
import {
  HEADERS_TIMEOUT_MS,
  http,
  KEEP_ALIVE_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  STANDSTILL_TIMEOUT_MS,
} from './node-http.ts'

/**
 * How much of an answer is written to the connection at a time. A TLS connection encrypts everything that
 * is written at once, and keeps a buffer of that size until it is closed.
 */
const SENT_PIECE_BYTES = 64 * 1024

type Callback = () => void

/** An HTTP/1 response that writes a large body in pieces, each when the one before is sent. */
class PacedResponse extends http.ServerResponse {
  #heldBytes = 0

  /** Bytes of the body that are not yet written to the connection. */
  get heldBytes(): number {
    return this.destroyed ? 0 : this.#heldBytes
  }

  override end(callback?: Callback): this
  override end(chunk: unknown, callback?: Callback): this
  override end(chunk: unknown, encoding: BufferEncoding, callback?: Callback): this
  override end(chunk?: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): this {
    const bytes = typeof encoding === 'function' ? undefined : largeBytes(chunk, encoding)
    if (bytes === undefined || this.req.method === 'HEAD') {
      return super.end(chunk, encoding as BufferEncoding, callback)
    }
    if (!this.headersSent && !this.hasHeader('Content-Length')) {
      this.setHeader('Content-Length', bytes.length)
    }
    this.#send(bytes, callback)
    return this
  }

  #send(rest: Uint8Array, callback: Callback | undefined): void {
    let left = rest
    while (left.length > SENT_PIECE_BYTES) {
      const mayGoOn = this.write(left.subarray(0, SENT_PIECE_BYTES))
      left = left.subarray(SENT_PIECE_BYTES)
      this.#heldBytes = left.length
      if (mayGoOn) continue
      this.once('drain', () => this.#send(left, callback))
      return
    }
    this.#heldBytes = 0
    super.end(left, callback)
  }
}

/** The body as bytes; undefined when it fits into one piece. */
function largeBytes(chunk: unknown, encoding: BufferEncoding | undefined): Uint8Array | undefined {
  if (typeof chunk === 'string' && chunk.length > SENT_PIECE_BYTES)
    return Buffer.from(chunk, encoding)
  return chunk instanceof Uint8Array && chunk.length > SENT_PIECE_BYTES ? chunk : undefined
}

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

/**
 * How many received bytes are parsed before checking whether a request waits. A request has at least 18
 * bytes, so at most 227 wait on one connection.
 */
const PARSED_PIECE_BYTES = 4 * 1024

const gates = new WeakMap<Socket, InputGate>()

/**
 * Sits between a connection and Node's parser, which would start all pipelined requests of a packet at
 * once, even when the client does not read the answers. Nothing is parsed while a request waits for the
 * answer before it.
 */
class InputGate {
  readonly #socket: Socket
  readonly #toParser: (bytes: Buffer) => void
  readonly #toParserAtEnd: () => void
  #waiting = 0
  #hasEnded = false

  /** @param socket must have the listeners of Node's HTTP server already */
  constructor(socket: Socket) {
    this.#socket = socket
    this.#toParser = takeListener(socket, 'data')
    this.#toParserAtEnd = takeListener(socket, 'end')
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Calls `start` when Node assigns the socket to this response: when the answer before it is sent. */
  wait(response: ServerResponse, start: () => void): void {
    this.#waiting += 1
    response.once('socket', () => {
      this.#waiting -= 1
      start()
      if (this.#waiting > 0) return
      this.#socket.resume()
      if (this.#hasEnded) this.#toParserAtEnd.call(this.#socket)
    })
  }

  readonly #onData = (bytes: Buffer): void => {
    const socket = this.#socket
    let parsed = 0
    if (this.#waiting === 0) {
      parsed = Math.min(bytes.length, PARSED_PIECE_BYTES)
      this.#toParser.call(socket, parsed === bytes.length ? bytes : bytes.subarray(0, parsed))
    }
    // A flowing socket would emit the returned bytes again at once.
    if (this.#waiting > 0) socket.pause()
    if (parsed < bytes.length) socket.unshift(bytes.subarray(parsed))
  }

  /** Delayed while requests wait: Node ends the connection on `end`, and they would get no answer. */
  readonly #onEnd = (): void => {
    if (this.#waiting > 0) this.#hasEnded = true
    else this.#toParserAtEnd.call(this.#socket)
  }
}

/** Puts a gate before Node's parser. The socket must have the listeners of Node's HTTP server already. */
export function gateInput(socket: Socket): void {
  gates.set(socket, new InputGate(socket))
}

/** Starts an HTTP/1 request when the answers to earlier requests of its connection have left the process. */
function startInTurn(socket: Socket, response: ServerResponse, start: () => void): void {
  if (response.socket === null) gates.get(socket)?.wait(response, start)
  else start()
}

/** How many parsed requests of a connection wait for the answers before them. */
export function waitingRequests(socket: Socket): number {
  return gates.get(socket)?.waiting ?? 0
}

function takeListener(socket: Socket, event: 'data' | 'end'): (bytes?: Buffer) => void {
  const [listener] = socket.listeners(event).slice(-1)
  if (listener === undefined) throw new Error(`Node's HTTP server has no listener for ${event}.`)
  socket.off(event, listener as () => void)
  return listener as (bytes?: Buffer) => void
}

/** Time for the requests that are under way when the process receives its stop signal. */
const STOP_GRACE_MS = 8_000
const IDLE_CHECK_INTERVAL_MS = 50

/** A listener or protocol server that passes requests to a front and stops with it. */
export type FrontEntrance = {
  /** Stops accepting connections; settles when the last one has closed. */
  close?(): Promise<void>
  /** Ends the idle connections. */
  closeIdle(): void
  closeAll(): void
}

/**
 * Stops accepting connections; settles when the requests under way are answered and all connections are
 * closed.
 *
 * @param idleGraceMs how long idle connections stay open, so that a request already in the network is
 *   still answered; that answer has `Connection: close`
 */
export async function stopFront(
  front: Server,
  idleGraceMs: number,
  entrances: readonly FrontEntrance[] = [],
): Promise<void> {
  const all = [entranceOf(front), ...entrances]
  const closed = Promise.all(all.map((entrance) => entrance.close?.()))
  const closeIdle = () => {
    for (const entrance of all) entrance.closeIdle()
  }
  const cutOff = setTimeout(() => {
    for (const entrance of all) entrance.closeAll()
  }, idleGraceMs + STOP_GRACE_MS)
  const graceEndsAt = performance.now() + idleGraceMs
  // Repeated, because a client may keep a connection open after the answer that is under way now.
  const closing = setInterval(() => {
    if (performance.now() >= graceEndsAt) closeIdle()
  }, IDLE_CHECK_INTERVAL_MS)
  if (idleGraceMs === 0) closeIdle()
  await closed
  clearInterval(closing)
  clearTimeout(cutOff)
}

/** The entrance of an HTTP server's own port. */
export function entranceOf(server: Server): FrontEntrance {
  return {
    // The HTTP server's own `close` would close idle connections at once.
    close: () =>
      new Promise((resolve) => {
        NetServer.prototype.close.call(server, () => resolve())
      }),
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  }
}

/**
 * Creates a listener that hands every connection that it accepts to `server`.
 *
 * @param options.allowHalfOpen must be the same as that server's
 */
export function createAcceptor(server: NetServer, options: { allowHalfOpen: boolean }): NetServer {
  return createServer({ ...options, noDelay: true }, (socket) => server.emit('connection', socket))
}

/** The entrance only stops accepting: the server's own entrance closes the connections. */
export function acceptorEntrance(acceptor: NetServer): FrontEntrance {
  return {
    close: () =>
      new Promise((resolve) => {
        acceptor.close(() => resolve())
      }),
    closeIdle() {},
    closeAll() {},
  }
}

/** A request listener whose target is set later. */
type DeferredListener = {
  readonly listener: RequestListener
  /** Passes all waiting requests to `target`, and every later one. */
  open(target: RequestListener): void
}

/** Lets a server listen while the code that answers some of its requests is still loading. */
export function deferredListener(): DeferredListener {
  const waiting: (readonly [IncomingMessage, ServerResponse])[] = []
  let answer: RequestListener = (request, response) => {
    waiting.push([request, response])
  }
  return {
    listener: (request, response) => answer(request, response),
    open(target) {
      answer = target
      for (const [request, response] of waiting.splice(0)) target(request, response)
    },
  }
}
