import { backoffMs } from './backoff.ts'

const PROBE_BASE_MS = 50
const PROBE_CAP_MS = 1_000

/**
 * Keeps a service that is away from being asked again and again (the circuit breaker of Nygard,
 * "Release It!"). One failure opens nothing: it is a doubt, which a probe of its own confirms or
 * dispels. While the breaker is open only probes ask, at growing intervals, and the first that
 * succeeds closes it.
 */
export class Breaker {
  readonly #probe: () => Promise<void>
  readonly #onOpen: (cause: unknown) => void
  readonly #onPass: (wasOpen: boolean) => void
  #state: 'closed' | 'doubted' | 'open' = 'closed'
  #cause: unknown
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /**
   * @param options.probe settles, in bounded time, where the service answers, and rejects where not
   * @param options.onOpen told why, once the service is taken to be away
   * @param options.onPass told after each probe that the service answered
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

  /** What the last probe met, while the breaker is open. */
  get cause(): unknown {
    return this.#cause
  }

  /** Says that something failed as it would if the service were away. */
  doubt(): void {
    if (this.#state !== 'closed' || this.#stopped) return
    this.#state = 'doubted'
    void this.#ask()
  }

  /** Says that the service is away. */
  open(cause: unknown): void {
    const wasOpen = this.isOpen
    this.#state = 'open'
    this.#cause = cause
    if (!wasOpen) this.#onOpen(cause)
    if (this.#stopped) return
    const wait = backoffMs(this.#failures, PROBE_BASE_MS, PROBE_CAP_MS, Math.random())
    this.#failures += 1
    this.#timer = setTimeout(() => this.#ask(), wait)
    this.#timer.unref()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #ask(): Promise<void> {
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
