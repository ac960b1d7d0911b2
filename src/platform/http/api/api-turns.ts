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
  /** In their order. A request leaves when its client does, so that canceled ones cost nothing more. */
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
