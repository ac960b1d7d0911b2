import { backoffMs } from './async.ts'

const PROBE_BASE_MS = 50
const PROBE_CAP_MS = 1_000

/**
 * Stops requests to a service that is down (the circuit breaker of Nygard, "Release It!"). A single
 * failed request does not open it: it triggers a probe, and only a failed probe opens the breaker. While
 * it is open, only probes reach the service, at growing intervals. The first successful probe closes it.
 */
export class CircuitBreaker {
  readonly #probe: () => Promise<void>
  readonly #onOpen: (cause: unknown) => void
  readonly #onPass: (wasOpen: boolean) => void
  #state: 'closed' | 'suspect' | 'open' = 'closed'
  #cause: unknown
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /**
   * @param options.probe resolves if the service answers, rejects if not; must settle in bounded time
   * @param options.onOpen called with the cause when the breaker opens
   * @param options.onPass called after each successful probe
   */
  constructor(options: {
    probe: () => Promise<void>
    onOpen: (cause: unknown) => void
    onPass: (wasOpen: boolean) => void
  }) {
    this.#probe = options.probe
    this.#onOpen = options.onOpen
    this.#onPass = options.onPass
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** The error of the last probe while the breaker is open. */
  get cause(): unknown {
    return this.#cause
  }

  /** Reports a failure that an outage could have caused. */
  suspect(): void {
    if (this.#state !== 'closed' || this.#stopped) return
    this.#state = 'suspect'
    void this.#runProbe()
  }

  /** Reports that the service is down. */
  open(cause: unknown): void {
    const wasOpen = this.isOpen
    this.#state = 'open'
    this.#cause = cause
    if (!wasOpen) this.#onOpen(cause)
    if (this.#stopped) return
    const wait = backoffMs(this.#failures, PROBE_BASE_MS, PROBE_CAP_MS, Math.random())
    this.#failures += 1
    this.#timer = setTimeout(() => this.#runProbe(), wait)
    this.#timer.unref()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #runProbe(): Promise<void> {
    try {
      await this.#probe()
    } catch (error) {
      if (!this.#stopped) this.open(error)
      return
    }
    const wasOpen = this.isOpen
    this.#state = 'closed'
    this.#cause = undefined
    this.#failures = 0
    if (!this.#stopped) this.#onPass(wasOpen)
  }
}
