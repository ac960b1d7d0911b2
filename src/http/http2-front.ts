import type { Server } from 'node:http'
import { constants, createServer, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { KEEP_ALIVE_TIMEOUT_MS, REQUEST_TIMEOUT_MS, STANDSTILL_TIMEOUT_MS } from './time-limits.ts'

const STREAMS_MAX = 100
const HEADER_BYTES_MAX = 16 * 1024

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

/** @param front answers the requests, as it does those that come over HTTP/1.1 */
export function createHttp2Front(front: Server, limits = LIMITS): Http2Front {
  const sessions = new Set<ServerHttp2Session>()
  const server = createServer({
    settings: {
      enablePush: false,
      maxConcurrentStreams: STREAMS_MAX,
      maxHeaderListSize: HEADER_BYTES_MAX,
    },
  })
  server.setTimeout(limits.idleMs)
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    // The session has ended by itself; there is nobody to tell.
    session.on('error', () => {})
  })
  server.on('sessionError', () => {})
  server.on('stream', (stream) => {
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
    stream.setTimeout(limits.standstillMs, cancel)
    stream.on('error', () => {})
    if (stream.endAfterHeaders) return
    const tooLate = setTimeout(cancel, limits.requestMs)
    stream.once('end', () => clearTimeout(tooLate))
    stream.once('close', () => clearTimeout(tooLate))
  })
  server.on('request', (request, response) => front.emit('request', request, response))

  return {
    take: (socket) => server.emit('connection', socket),
    closeIdle() {
      for (const session of sessions) if (!session.closed) session.close()
    },
    closeAll() {
      for (const session of sessions) session.destroy()
    },
  }
}
