import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'

/** For requests under way when the process is asked to stop. */
const STOP_GRACE_MS = 8_000
const IDLE_CHECK_INTERVAL_MS = 50

/**
 * Accepts no more connections; settles when the requests under way are answered, and none is left.
 *
 * @param idleGraceMs for how long connections on which nothing is under way stay open, so that a
 *   request already on its way is answered: its answer tells the client that the connection closes
 */
export async function stopFront(front: Server, idleGraceMs: number): Promise<void> {
  // The HTTP server's own `close` would close idle connections at once.
  const closed = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(front, () => resolve())
  })
  const cutOff = setTimeout(() => front.closeAllConnections(), idleGraceMs + STOP_GRACE_MS)
  const graceEndsAt = performance.now() + idleGraceMs
  // Again and again, because one that is busy now may be kept open by its client once it is answered.
  const closing = setInterval(() => {
    if (performance.now() >= graceEndsAt) front.closeIdleConnections()
  }, IDLE_CHECK_INTERVAL_MS)
  if (idleGraceMs === 0) front.closeIdleConnections()
  await closed
  clearInterval(closing)
  clearTimeout(cutOff)
}
