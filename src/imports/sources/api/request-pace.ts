import type { WaitingClock } from './waiting-clock.ts'

/** At most `requests` in any `perMs`. */
export type RateLimit = { readonly requests: number; readonly perMs: number }

/** Spaces requests so that a service's limits are kept without asking until it refuses. */
export class RequestPace {
  readonly #limits: readonly RateLimit[]
  readonly #clock: WaitingClock
  /** When the last requests started; as many as the widest limit counts. */
  readonly #starts: number[] = []

  constructor(limits: readonly RateLimit[], clock: WaitingClock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Resolves when a request may start. Callers must not overlap. */
  async turn(signal: AbortSignal): Promise<void> {
    const waitMs = Math.max(0, ...this.#limits.map((limit) => this.#waitMs(limit)))
    if (waitMs > 0) await this.#clock.wait(waitMs, signal)
    this.#starts.push(this.#clock.nowMs())
    if (this.#starts.length > Math.max(...this.#limits.map(({ requests }) => requests))) {
      this.#starts.shift()
    }
  }

  #waitMs({ requests, perMs }: RateLimit): number {
    const start = this.#starts.at(-requests)
    return start === undefined ? 0 : start + perMs - this.#clock.nowMs()
  }
}
