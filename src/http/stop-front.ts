import type { Server } from 'node:http'

/** For requests under way when the process is asked to stop. */
const STOP_GRACE_MS = 10_000
const IDLE_CHECK_INTERVAL_MS = 50

/** Accepts no more connections; settles when the requests under way are answered. */
export async function stopFront(front: Server): Promise<void> {
  const closed = new Promise((resolve) => front.close(resolve))
  const cutOff = setTimeout(() => front.closeAllConnections(), STOP_GRACE_MS)
  // A connection that was busy just now may be kept open by its client once it is answered.
  const closing = setInterval(() => front.closeIdleConnections(), IDLE_CHECK_INTERVAL_MS)
  await closed
  clearInterval(closing)
  clearTimeout(cutOff)
}
