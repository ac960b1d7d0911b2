import type { Server } from 'node:http'
import {
  constants,
  createServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Connections } from './connections/connections.ts'
import { StreamLimiter } from './connections/stream-limiter.ts'
import { KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS, STANDSTILL_TIMEOUT_MS } from './node-http.ts'

const STREAMS_MAX = 100
const HEADER_BYTES_MAX = 16 * 1024
/** A connection with more refused streams over its life is closed. */
const REFUSED_STREAMS_MAX = 100
/** How often connections are checked for refused streams, which Node does not report. */
const CHECK_INTERVAL_MS = 100

const SERVER_OPTIONS = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: STREAMS_MAX,
    maxHeaderListSize: HEADER_BYTES_MAX,
  },
  // Above these limits, nghttp2 closes the connection with GOAWAY.
  maxSessionInvalidFrames: 100,
  /** Requests that the client cancels: the burst, and the rate per second. */
  streamResetBurst: 100,
  streamResetRate: 33,
} as const

/** The HTTP/2 server, for connections that another server has accepted. */
export type Http2Front = {
  take(socket: Socket): void
  /** Ends every session after its current requests; clients can open no further ones. */
  closeIdle(): void
  closeAll(): void
}

type TimeLimits = {
  /** For a connection without requests. */
  readonly idleMs: number
  /** For a request without a byte sent or received. */
  readonly standstillMs: number
  /** For a request's whole body to arrive. */
  readonly requestMs: number
}

const LIMITS: TimeLimits = {
  idleMs: KEEP_ALIVE_TIMEOUT_MS,
  standstillMs: STANDSTILL_TIMEOUT_MS,
  requestMs: REQUEST_TIMEOUT_MS,
}

class RefusedStreams extends Error {
  readonly code = 'ERR_TOO_MANY_REFUSED_STREAMS'
}

/** One connection and its requests. */
class Http2Connection {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  readonly limiter: StreamLimiter
  /** Requests whose headers were accepted. */
  streams = 0
  #bytesRead = 0

  constructor(session: ServerHttp2Session, socket: Socket, limiter: StreamLimiter) {
    this.session = session
    this.socket = socket
    this.limiter = limiter
  }

  /**
   * How many requests Node refused for their headers, which costs the time to read them. Node emits no
   * event for these, but stream ids are consecutive, so the missing ones are counted.
   */
  refusedStreams(): number {
    const { session, socket } = this
    if (session.destroyed || socket.bytesRead === this.#bytesRead) return 0
    this.#bytesRead = socket.bytesRead
    return ((session.state.lastProcStreamID ?? 0) + 1) / 2 - this.streams
  }
}

/**
 * @param front answers the requests, as it answers those of HTTP/1.1
 * @param options.connections limits the connections and their memory
 * @param options.onError called for a connection that ends because its client broke the protocol
 */
export function createHttp2Front(
  front: Server,
  options: {
    limits?: TimeLimits
    connections?: Connections
    onError?: (error: Error) => void
  } = {},
): Http2Front {
  const { limits = LIMITS, connections, onError } = options
  const open = new Map<ServerHttp2Session, Http2Connection>()
  /** The socket of the session that is being created. */
  let newSocket: Socket | undefined
  let checkTimer: NodeJS.Timeout | undefined

  function add(session: ServerHttp2Session, socket: Socket): void {
    const limiter = new StreamLimiter(
      connections?.isTrusted(socket) === true ? STREAMS_MAX : undefined,
    )
    open.set(session, new Http2Connection(session, socket, limiter))
    connections?.describe(socket, limiter)
    checkTimer ??= setInterval(closeAbusive, CHECK_INTERVAL_MS).unref()
    session.on('close', () => {
      open.delete(session)
      if (open.size > 0) return
      clearInterval(checkTimer)
      checkTimer = undefined
    })
    // The session has already ended; nothing else is to do.
    session.on('error', () => {})
  }

  function closeAbusive(): void {
    for (const connection of open.values()) {
      if (connection.refusedStreams() <= REFUSED_STREAMS_MAX) continue
      connection.session.destroy(new RefusedStreams(), constants.NGHTTP2_ENHANCE_YOUR_CALM)
      connections?.noteClosed('refused_streams')
    }
  }

  const server = createServer(SERVER_OPTIONS)
  server.setTimeout(limits.idleMs)
  server.on('session', (session) => {
    if (newSocket !== undefined) add(session, newSocket)
  })
  server.on('sessionError', (error) => onError?.(error))
  server.on('stream', (stream) => {
    const connection = open.get(stream.session as ServerHttp2Session)
    if (connection !== undefined) connection.streams += 1
    limitDuration(stream as ServerHttp2Stream, limits)
  })
  server.on('request', (request, response) => {
    const { stream } = request
    const connection = open.get(stream.session as ServerHttp2Session)
    connection?.limiter.run(stream, () => front.emit('request', request, response))
  })

  return {
    take(socket) {
      newSocket = socket
      server.emit('connection', socket)
      newSocket = undefined
    },
    closeIdle() {
      for (const session of open.keys()) if (!session.closed) session.close()
    },
    closeAll() {
      for (const session of open.keys()) session.destroy()
    },
  }
}

function limitDuration(stream: ServerHttp2Stream, limits: TimeLimits): void {
  const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
  stream.setTimeout(limits.standstillMs, cancel)
  stream.on('error', () => {})
  if (stream.endAfterHeaders) return
  const tooLate = setTimeout(cancel, limits.requestMs)
  stream.once('end', () => clearTimeout(tooLate))
  stream.once('close', () => clearTimeout(tooLate))
}
