import type { Server } from 'node:http'
import { constants, createServer, type Http2Server, type ServerHttp2Session } from 'node:http2'
import type { TLSSocket } from 'node:tls'

const STREAMS_MAX = 100
const HEADER_BYTES_MAX = 16 * 1024
/** As over HTTP/1.1. */
const IDLE_TIMEOUT_MS = 65_000
const STANDSTILL_TIMEOUT_MS = 20_000
const REQUEST_TIMEOUT_MS = 20_000

/** HTTP/2, over connections that somebody else accepts. */
export type Http2Front = {
  take(socket: TLSSocket): void
  /** Lets clients finish what they have asked, and ask no more. */
  closeIdle(): void
  closeAll(): void
}

/** @param front answers the requests, as it does those that come over HTTP/1.1 */
export function createHttp2Front(front: Server): Http2Front {
  const sessions = new Set<ServerHttp2Session>()
  const server: Http2Server = createServer({
    settings: {
      enablePush: false,
      maxConcurrentStreams: STREAMS_MAX,
      maxHeaderListSize: HEADER_BYTES_MAX,
    },
  })
  server.setTimeout(IDLE_TIMEOUT_MS)
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    // The session has ended by itself; there is nobody to tell.
    session.on('error', () => {})
  })
  server.on('sessionError', () => {})
  server.on('stream', (stream) => {
    const cancel = () => stream.close(constants.NGHTTP2_CANCEL)
    stream.setTimeout(STANDSTILL_TIMEOUT_MS, cancel)
    stream.on('error', () => {})
    if (stream.readableEnded) return
    const tooLate = setTimeout(cancel, REQUEST_TIMEOUT_MS)
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
