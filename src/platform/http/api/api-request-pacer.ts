import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

/** The target for one iteration of the event loop that starts API requests. */
const ITERATION_MS = 8
/** Most requests that start in one iteration: enough for concurrent creates to share one commit. */
const STARTS_MAX = 32

/**
 * Starts a limited number of API requests in each iteration of the event loop, so that visits, which
 * are answered between iterations, wait for that many and not for all that have arrived. The limit
 * halves after an iteration above the target, and grows by one after any other.
 */
export class ApiRequestPacer {
  readonly #listener: RequestListener
  /** In order of arrival. A request is removed when its client disconnects. */
  readonly #waiting = new Map<ServerResponse, IncomingMessage>()
  #startsPerIteration = STARTS_MAX
  #started = 0
  #iterationStartedMs = 0
  #isScheduled = false

  constructor(listener: RequestListener) {
    this.#listener = listener
  }

  readonly answer: RequestListener = (request, response) => {
    if (this.#waiting.size === 0 && this.#started < this.#startsPerIteration) {
      this.#start(request, response)
    } else {
      this.#waiting.set(response, request)
      response.once('close', () => this.#waiting.delete(response))
    }
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
    for (const [response, request] of this.#waiting) {
      if (this.#started >= this.#startsPerIteration) break
      this.#waiting.delete(response)
      this.#start(request, response)
    }
    if (this.#waiting.size > 0 || this.#started > 0) this.#schedule()
  }
}
