import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Looks something up that is asked for more often than it should be looked up, and by those who cannot
 * wait: what takes long is told the next time.
 *
 * @param options.look may fail: then there is nothing to tell, and the next who asks has it looked up again
 * @param options.keepMs for how long what was found is good enough
 * @param options.patienceMs of those who ask
 */
export function glance<T>(options: {
  look: () => Promise<T>
  keepMs: number
  patienceMs: number
}): () => Promise<T | undefined> {
  let known: T | undefined
  let lookedAtMs = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    try {
      known = await options.look()
      lookedAtMs = performance.now()
    } catch {
      known = undefined
      lookedAtMs = Number.NEGATIVE_INFINITY
    }
    looking = undefined
  }

  return async () => {
    if (performance.now() - lookedAtMs < options.keepMs) return known
    looking ??= look()
    await Promise.race([looking, sleep(options.patienceMs, undefined, { ref: false })])
    return known
  }
}
