import { PerformanceObserver } from 'node:perf_hooks'
import v8 from 'node:v8'

const MEBIBYTE = 1_024 * 1_024
/** Half of the space of new objects of a process that serves: it fits the processor's cache. */
const SERVING_BYTES = 4 * MEBIBYTE
/** The same under many API requests: most objects of those under way are gone before the next collection. */
const BUSY_BYTES = 16 * MEBIBYTE
/** API requests in a second that count as many. */
const BUSY_REQUESTS = 200
/** Enough for V8 to double the space several times under such a load. */
const BUSY_GROWTH_MS = 10_000

/**
 * The size of V8's space of new objects, each half of which `bin/terse.js` begins with 1 MiB. V8 doubles it when many
 * objects survive. No flag sets the size once V8 runs, but the growth can begin and end, for all threads at once. An
 * idle process allocates too little to reach the limit.
 *
 * In the smaller space, creating a link takes up to half as much processor time again: what concurrent requests need
 * until their answers is copied at each collection. A visit keeps nothing, so the smaller space is enough for visits.
 */
export class NewSpace {
  #stopGrowth: (() => void) | undefined
  #requests = 0
  #countedSinceMs = 0

  /** Lets the space grow once the process serves; also later, if it has little to do at first. */
  growToServe(): void {
    this.#grow(SERVING_BYTES)
  }

  /** Counts an API request. */
  noteApiRequest(): void {
    this.#requests += 1
    if (this.#requests < BUSY_REQUESTS) return
    const now = performance.now()
    if (now - this.#countedSinceMs < 1_000 && !hasCapacity(BUSY_BYTES)) {
      this.#grow(BUSY_BYTES, BUSY_GROWTH_MS)
    }
    this.#requests = 0
    this.#countedSinceMs = now
  }

  #grow(bytes: number, msMax?: number): void {
    this.#stopGrowth?.()
    const observer = new PerformanceObserver(() => {
      if (hasCapacity(bytes)) stop()
    })
    const stop = () => {
      v8.setFlagsFromString('--semi-space-growth-factor=1')
      observer.disconnect()
      clearTimeout(timer)
      this.#stopGrowth = undefined
    }
    const timer = msMax === undefined ? undefined : setTimeout(stop, msMax).unref()
    this.#stopGrowth = stop
    observer.observe({ entryTypes: ['gc'] })
    v8.setFlagsFromString('--semi-space-growth-factor=2')
  }
}

/** Whether half of the space has these bytes, but for the little of each page that V8 needs itself. */
function hasCapacity(bytes: number): boolean {
  const space = v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return space !== undefined && space.space_used_size + space.space_available_size > 0.9 * bytes
}
