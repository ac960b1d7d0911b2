import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

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
