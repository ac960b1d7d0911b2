import { PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'

const MEBIBYTE = 1_024 * 1_024
/** Both halves of the space of new objects of a process that serves: they fit the processor's cache. */
const SERVING_BYTES = 4 * MEBIBYTE
/** The same for many API requests: most objects of those under way are gone before the next collection. */
const BUSY_BYTES = 32 * MEBIBYTE
/** So many API requests within a second are many. */
const BUSY_REQUESTS = 200
/** Enough for V8 to double the space several times under such a load. */
const GROWTH_MS = 10_000

/**
 * The size of V8's space of new objects, which `bin/terse.js` begins with 2 MiB. V8 doubles it when many objects
 * survive. No flag sets the size once V8 runs, but the growth can begin and end, for all threads at once. An idle
 * process makes too few objects for it.
 *
 * At 2 MiB creating links costs twice as much as at 32, because what 16 requests need until they are answered fills
 * half of it and is copied at each collection. Visits leave nothing behind: for them 4 MiB are enough.
 */
export class NewSpace {
  #growth: PerformanceObserver | undefined
  #requests = 0
  #countedSinceMs = 0

  /** To be called once the process serves. */
  growToServe(): void {
    this.#grow(SERVING_BYTES)
  }

  /** To be called for each API request. */
  noteApiRequest(): void {
    this.#requests += 1
    if (this.#requests < BUSY_REQUESTS) return
    const now = performance.now()
    if (now - this.#countedSinceMs < 1_000) this.#grow(BUSY_BYTES)
    this.#requests = 0
    this.#countedSinceMs = now
  }

  #grow(bytes: number): void {
    if (this.#growth !== undefined || spaceBytes() >= bytes) return
    const end = () => {
      v8.setFlagsFromString('--semi-space-growth-factor=1')
      this.#growth?.disconnect()
      this.#growth = undefined
      clearTimeout(timer)
    }
    const timer = setTimeout(end, GROWTH_MS).unref()
    this.#growth = new PerformanceObserver(() => {
      if (spaceBytes() >= bytes) end()
    })
    this.#growth.observe({ entryTypes: ['gc'] })
    v8.setFlagsFromString('--semi-space-growth-factor=2')
  }
}

function spaceBytes(): number {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return space?.space_size ?? 0
}
