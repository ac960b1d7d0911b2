import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { createServer, Server as NetServer } from 'node:net'

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
