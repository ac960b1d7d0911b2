import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** An iteration of the event loop with API requests in it is to take no longer than this. */
const ITERATION_MS = 8
/** Requests that may start in one iteration: enough for creates at once to share one commit. */
const STARTS_MAX = 32

/**
 * Starts API requests a few in each iteration of the event loop, so that visitors, who are answered
 * between iterations, wait for those few and not for all that have come. How many follows from how
 * long iterations take: half as many after one that was too long, one more after any other.
 */
export class ApiTurns {
  readonly #listener: RequestListener
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = []
  #startsPerIteration = STARTS_MAX
  #started = 0
  #iterationStartedMs = 0
  #isScheduled = false

  constructor(listener: RequestListener) {
    this.#listener = listener
  }

  readonly answer: RequestListener = (request, response) => {
    if (this.#waiting.length === 0 && this.#started < this.#startsPerIteration) {
      this.#start(request, response)
    } else this.#waiting.push([request, response])
    this.#schedule()
  }

  #start(request: IncomingMessage, response: ServerResponse): void {
    if (this.#started === 0) this.#iterationStartedMs = performance.now()
    this.#started += 1
    this.#listener(request, response)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#beginIteration)
  }

  readonly #beginIteration = (): void => {
    this.#isScheduled = false
    const tookMs = performance.now() - this.#iterationStartedMs
    this.#startsPerIteration =
      tookMs > ITERATION_MS
        ? Math.max(1, Math.floor(this.#startsPerIteration / 2))
        : Math.min(STARTS_MAX, this.#startsPerIteration + 1)
    this.#started = 0
    while (this.#started < this.#startsPerIteration) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      // Its client has left while it waited.
      if (!next[1].destroyed) this.#start(...next)
    }
    if (this.#waiting.length > 0 || this.#started > 0) this.#schedule()
  }
}
