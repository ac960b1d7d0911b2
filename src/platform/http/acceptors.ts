import { createServer, type Server } from 'node:net'
import type { FrontEntrance } from './stop-front.ts'

/**
 * Creates a listener that hands every connection that it accepts to `server`.
 *
 * @param options.allowHalfOpen must be the same as that server's
 */
export function createAcceptor(server: Server, options: { allowHalfOpen: boolean }): Server {
  return createServer({ ...options, noDelay: true }, (socket) => server.emit('connection', socket))
}

/** The entrance only stops accepting: the server's own entrance closes the connections. */
export function acceptorEntrance(acceptor: Server): FrontEntrance {
  return {
    close: () =>
      new Promise((resolve) => {
        acceptor.close(() => resolve())
      }),
    closeIdle() {},
    closeAll() {},
  }
}
