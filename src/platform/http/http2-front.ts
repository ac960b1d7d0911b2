import type { Server } from 'node:http'
import {
  constants,
  createServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Connections } from './connections/connections.ts'
import { StreamTurns } from './connections/stream-turns.ts'
import { KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS, STANDSTILL_TIMEOUT_MS } from './time-limits.ts'

const STREAMS_MAX = 100
const HEADER_BYTES_MAX = 16 * 1024
/** Past so many, over the life of a connection, it is closed. */
const REFUSED_STREAMS_MAX = 100
/** How often connections are looked at for refused streams, of which Node reports none. */
const LOOK_INTERVAL_MS = 100

const SERVER_OPTIONS = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: STREAMS_MAX,
    maxHeaderListSize: HEADER_BYTES_MAX,
  },
  // Past these the connection is closed with GOAWAY.
  maxSessionInvalidFrames: 100,
  /** Requests that their client cancels: so many at once, and so many a second. */
  streamResetBurst: 100,
  streamResetRate: 33,
} as const

/** HTTP/2, over connections that somebody else accepts. */
export type Http2Front = {
  take(socket: Socket): void
  /** Lets clients finish what they have asked, and ask no more. */
  closeIdle(): void
  closeAll(): void
}

type TimeLimits = {
  /** For a connection on which nothing is asked. */
  readonly idleMs: number
  /** For a request on which no byte moves. */
  readonly standstillMs: number
  /** For all of a request's body to come. */
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

/** One connection, and what is done on it. */
class Http2Connection {
  readonly session: ServerHttp2Session
  readonly socket: Socket
  readonly turns: StreamTurns
  /** Requests whose headers were accepted. */
  streams = 0
  #bytesRead = 0

  constructor(session: ServerHttp2Session, socket: Socket, turns: StreamTurns) {
    this.session = session
    this.socket = socket
    this.turns = turns
  }

  /**
   * Requests that Node refused for their headers, at the cost of reading them. Node tells a program of
   * none of them, but clients number their requests, so those that are missing are counted.
   */
  refusedStreams(): number {
    const { session, socket } = this
    if (session.destroyed || socket.bytesRead === this.#bytesRead) return 0
    this.#bytesRead = socket.bytesRead
    return ((session.state.lastProcStreamID ?? 0) + 1) / 2 - this.streams
  }
}

/**
 * @param front answers the requests, as it does those that come over HTTP/1.1
 * @param options.connections bounds what connections may cost
 * @param options.onError called for a connection that ends because of what its client has sent
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
  /** The socket of the session that is being made. */
  let taking: Socket | undefined
  let looking: NodeJS.Timeout | undefined

  function add(session: ServerHttp2Session, socket: Socket): void {
    const turns = new StreamTurns(connections?.isTrusted(socket) === true ? STREAMS_MAX : undefined)
    open.set(session, new Http2Connection(session, socket, turns))
    connections?.describe(socket, turns)
    looking ??= setInterval(look, LOOK_INTERVAL_MS).unref()
    session.on('close', () => {
      open.delete(session)
      if (open.size > 0) return
      clearInterval(looking)
      looking = undefined
    })
    // The session has ended by itself; there is nobody to tell.
    session.on('error', () => {})
  }

  function look(): void {
    for (const connection of open.values()) {
      if (connection.refusedStreams() <= REFUSED_STREAMS_MAX) continue
      connection.session.destroy(new RefusedStreams(), constants.NGHTTP2_ENHANCE_YOUR_CALM)
      connections?.noteClosed('refused_streams')
    }
  }

  const server = createServer(SERVER_OPTIONS)
  server.setTimeout(limits.idleMs)
  server.on('session', (session) => {
    if (taking !== undefined) add(session, taking)
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
    connection?.turns.run(stream, () => front.emit('request', request, response))
  })

  return {
    take(socket) {
      taking = socket
      server.emit('connection', socket)
      taking = undefined
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
