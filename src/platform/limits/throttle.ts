import type { Clock } from '../time/clock.ts'

export type ThrottleVerdict =
  | { readonly allowed: true; readonly remaining: number; readonly resetSeconds: number }
  | { readonly allowed: false; readonly remaining: 0; readonly resetSeconds: number }

type Window = { startedAtMicros: number; used: number }

/**
 * At most `limit` events per key in each window of `windowSeconds`, as far as this process knows. Holds at
 * most `keysMax` keys: past that the oldest window is forgotten, which lets a key start anew early
 * but never blocks a key that did nothing.
 */
export class Throttle {
  readonly #clock: Clock
  readonly #limit: number
  readonly #windowMicros: number
  readonly #keysMax: number
  readonly #onCount: ((key: string, events: number) => void) | undefined
  readonly #windows = new Map<string, Window>()

  /** @param options.onCount told of what `take` and `giveBack` count */
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
   * @param options.events how many to count; 1 when left out
   * @param options.limit of this key, where it has another than all others
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

  /** What `take` would return, without counting anything. */
  peek(key: string): ThrottleVerdict {
    const now = this.#clock.nowMicros()
    return this.#verdictOn(this.#currentWindow(key, now) ?? { startedAtMicros: now, used: 0 }, now)
  }

  /** The events of the key in the window that is under way. */
  used(key: string): number {
    return this.#currentWindow(key, this.#clock.nowMicros())?.used ?? 0
  }

  /** Takes an event back that turned out not to be of the kind that is limited. */
  giveBack(key: string): void {
    const window = this.#windows.get(key)
    if (window === undefined || window.used === 0) return
    window.used -= 1
    this.#onCount?.(key, -1)
  }

  /** Counts events of elsewhere, allowed there already; fewer than 0 were taken back. */
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
      this.#forgetOldest()
    }
    // A clock that was set back must not lock a key out for longer than one window from now.
    window.startedAtMicros = Math.min(window.startedAtMicros, now)
    return window
  }

  #forgetOldest(): void {
    if (this.#windows.size <= this.#keysMax) return
    const oldest = this.#windows.keys().next()
    if (!oldest.done) this.#windows.delete(oldest.value)
  }
}
