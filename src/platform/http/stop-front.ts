import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** For requests under way when the process is asked to stop. */
const STOP_GRACE_MS = 8_000
const IDLE_CHECK_INTERVAL_MS = 50

/** What leads requests to a front besides its own port, and stops with it. */
export type FrontEntrance = {
  /** Accepts no more; settles when no connection is left. */
  close?(): Promise<void>
  /** Ends the connections on which nothing is under way. */
  closeIdle(): void
  closeAll(): void
}

/**
 * Accepts no more connections; settles when the requests under way are answered, and none is left.
 *
 * @param idleGraceMs for how long connections on which nothing is under way stay open, so that a
 *   request already on its way is answered: its answer tells the client that the connection closes
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
  // Again and again, because one that is busy now may be kept open by its client once it is answered.
  const closing = setInterval(() => {
    if (performance.now() >= graceEndsAt) closeIdle()
  }, IDLE_CHECK_INTERVAL_MS)
  if (idleGraceMs === 0) closeIdle()
  await closed
  clearInterval(closing)
  clearTimeout(cutOff)
}

/** The port of an HTTP server itself. */
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
