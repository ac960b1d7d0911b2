import { createServer, type Server } from 'node:net'
import type { FrontEntrance } from './stop-front.ts'

/**
 * Accepts connections for another server.
 *
 * @param options.allowHalfOpen as that server has it
 */
export function createAcceptor(server: Server, options: { allowHalfOpen: boolean }): Server {
  return createServer({ ...options, noDelay: true }, (socket) => server.emit('connection', socket))
}

/** What ends the connections themselves is the server's own entrance. */
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
