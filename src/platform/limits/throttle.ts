import type { Clock } from '../time/clock.ts'

type ThrottleVerdict =
  | { readonly allowed: true; readonly remaining: number; readonly resetSeconds: number }
  | { readonly allowed: false; readonly remaining: 0; readonly resetSeconds: number }

type Window = { startedAtMicros: number; used: number }

/**
 * Allows at most `limit` events per key in each fixed window of `windowSeconds`, counted by this process.
 * Holds at most `keysMax` keys. Beyond that the oldest window is dropped: its key may exceed the limit, but
 * no key is blocked wrongly.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #limit: number
  readonly #windowMicros: number
  readonly #keysMax: number
  readonly #onCount: ((key: string, events: number) => void) | undefined
  readonly #windows = new Map<string, Window>()

  /** @param options.onCount called with the events that `take` and `refund` count */
  constructor(options: {
    clock: Clock
    limit: number
    windowSeconds: number
    keysMax: number
    onCount?: ((key: string, events: number) => void) | undefined
  }) {
    this.#clock = options.clock
    this.#limit = options.limit
    this.#windowMicros = options.windowSeconds * 1_000_000
    this.#keysMax = options.keysMax
    this.#onCount = options.onCount
  }

  /**
   * Counts events of a key if the limit allows them.
   *
   * @param options.events how many to count; defaults to 1
   * @param options.limit overrides the limit for this key
   */
  take(key: string, options: { events?: number; limit?: number } = {}): ThrottleVerdict {
    const { events = 1 } = options
    const now = this.#clock.nowMicros()
    const window = this.#windowOf(key, now)
    const verdict = this.#verdictOn(window, now, options)
    if (verdict.allowed) {
      window.used += events
      this.#onCount?.(key, events)
    }
    return verdict
  }

  /** Returns what `take` would return, without counting. */
  peek(key: string): ThrottleVerdict {
    const now = this.#clock.nowMicros()
    return this.#verdictOn(this.#currentWindow(key, now) ?? { startedAtMicros: now, used: 0 }, now)
  }

  /** The key's events in the current window. */
  used(key: string): number {
    return this.#currentWindow(key, this.#clock.nowMicros())?.used ?? 0
  }

  /** Removes one counted event that turned out not to be subject to the limit. */
  refund(key: string): void {
    const window = this.#windows.get(key)
    if (window === undefined || window.used === 0) return
    window.used -= 1
    this.#onCount?.(key, -1)
  }

  /** Counts events that another process allowed; a negative number is a refund. */
  add(key: string, events: number): void {
    const window = this.#windowOf(key, this.#clock.nowMicros())
    window.used = Math.max(0, window.used + events)
  }

  #verdictOn(
    { startedAtMicros, used }: Window,
    now: number,
    { events = 1, limit = this.#limit }: { events?: number; limit?: number } = {},
  ): ThrottleVerdict {
    const leftMicros = Math.min(startedAtMicros, now) + this.#windowMicros - now
    const resetSeconds = Math.max(1, Math.ceil(leftMicros / 1_000_000))
    return used + events > limit
      ? { allowed: false, remaining: 0, resetSeconds }
      : { allowed: true, remaining: limit - used - events, resetSeconds }
  }

  #currentWindow(key: string, now: number): Window | undefined {
    const window = this.#windows.get(key)
    const hasEnded = window !== undefined && now - window.startedAtMicros >= this.#windowMicros
    return hasEnded ? undefined : window
  }

  #windowOf(key: string, now: number): Window {
    let window = this.#currentWindow(key, now)
    if (window === undefined) {
      this.#windows.delete(key)
      window = { startedAtMicros: now, used: 0 }
      this.#windows.set(key, window)
      this.#dropOldest()
    }
    // After the clock was set back, a key must not be blocked for longer than one window.
    window.startedAtMicros = Math.min(window.startedAtMicros, now)
    return window
  }

  #dropOldest(): void {
    if (this.#windows.size <= this.#keysMax) return
    const oldest = this.#windows.keys().next()
    if (!oldest.done) this.#windows.delete(oldest.value)
  }
}

/** Interval of the exchange between processes; for this long each may allow events unknown to the others. */
const SEND_INTERVAL_MS = 100

/** Events of one key in one process; a negative number is a refund. */
type Count = readonly [throttle: string, key: string, events: number]

/** The other processes that count towards the same limits. */
export type Peers = {
  /** Sends counts to all other processes; best effort, because one of them may be about to end. */
  send(counts: readonly Count[]): void
  onReceived(listener: (counts: readonly Count[]) => void): void
}

/**
 * Throttles whose limits hold across all processes of a service. Each process decides on its own and sends
 * its counts to the others every 100 ms. Processes may therefore exceed a limit together by what they count
 * within 100 ms, but not permanently by the number of processes.
 */
export class Throttles {
  readonly #clock: Clock
  readonly #peers: Peers | undefined
  readonly #throttles = new Map<string, Throttle>()
  /** Counts that have not been sent yet, by throttle and key. */
  #unsent = new Map<string, Map<string, number>>()

  /** @param options.peers undefined when the service has one process */
  constructor({ clock, peers }: { clock: Clock; peers: Peers | undefined }) {
    this.#clock = clock
    this.#peers = peers
    peers?.onReceived((counts) => {
      for (const [name, key, events] of counts) this.#throttles.get(name)?.add(key, events)
    })
  }

  /** @param name unique for each throttle, and the same in every process */
  create(
    name: string,
    limits: { limit: number; windowSeconds: number; keysMax: number },
  ): Throttle {
    const onCount = this.#peers && ((key: string, events: number) => this.#note(name, key, events))
    const throttle = new Throttle({ clock: this.#clock, ...limits, onCount })
    this.#throttles.set(name, throttle)
    return throttle
  }

  #note(name: string, key: string, events: number): void {
    if (this.#unsent.size === 0) setTimeout(() => this.#send(), SEND_INTERVAL_MS).unref()
    const counts = this.#unsent.get(name) ?? new Map<string, number>()
    counts.set(key, (counts.get(key) ?? 0) + events)
    this.#unsent.set(name, counts)
  }

  #send(): void {
    const unsent = this.#unsent
    this.#unsent = new Map()
    this.#peers?.send(
      [...unsent].flatMap(([name, counts]) =>
        [...counts].map(([key, events]) => [name, key, events] as const),
      ),
    )
  }
}
