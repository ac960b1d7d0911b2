import { setTimeout as sleep } from 'node:timers/promises'

const POLL_INTERVAL_MS = 10

/**
 * Repeats `check` until it passes, for what the service does asynchronously. After the deadline, which a busy machine
 * does not reach, it throws the last error of `check`.
 */
export async function eventually<T>(check: () => Promise<T>, deadlineMs = 60_000): Promise<T> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await sleep(POLL_INTERVAL_MS)
  }
}
