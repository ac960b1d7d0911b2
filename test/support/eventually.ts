import { setTimeout as sleep } from 'node:timers/promises'

const POLL_INTERVAL_MS = 10

/**
 * Asks again until `check` passes, for what the service does in its own time. Fails with what
 * `check` last threw.
 */
export async function eventually<T>(check: () => Promise<T>, deadlineMs = 20_000): Promise<T> {
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
