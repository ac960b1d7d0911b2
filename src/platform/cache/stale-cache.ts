import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Returns a cached read of a value that is expensive to load. A caller waits at most `waitMsMax` for a
 * running load, then gets the previous value, even a stale one. Callers share one load.
 *
 * @param options.load may reject: then the value is undefined, and the next call loads again
 * @param options.ageMsMax how long a loaded value is returned without loading again
 * @param options.waitMsMax how long a call waits for a load
 */
export function staleCache<T>(options: {
  load: () => Promise<T>
  ageMsMax: number
  waitMsMax: number
}): () => Promise<T | undefined> {
  let value: T | undefined
  let loadedAtMs = Number.NEGATIVE_INFINITY
  let loading: Promise<void> | undefined

  async function load(): Promise<void> {
    try {
      value = await options.load()
      loadedAtMs = performance.now()
    } catch {
      value = undefined
      loadedAtMs = Number.NEGATIVE_INFINITY
    }
    loading = undefined
  }

  return async () => {
    if (performance.now() - loadedAtMs < options.ageMsMax) return value
    loading ??= load()
    await Promise.race([loading, sleep(options.waitMsMax, undefined, { ref: false })])
    return value
  }
}
