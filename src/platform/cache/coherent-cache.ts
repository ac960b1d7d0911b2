import { setImmediate as nextTurn } from 'node:timers/promises'
import { SieveCache } from './sieve-cache.ts'

/** Memory for names that have nothing behind them, kept apart: a flood of them evicts nothing else. */
const ABSENT_BYTES_MAX = 16 * 1024 * 1024
/** What one such name takes besides its characters, roughly. */
const ABSENT_ENTRY_BYTES = 200
/** For how long an answer that was overtaken by a change may still be given. */
export const ANSWER_AGE_MS_MAX = 500

/** Changed values that are loaded at once: few, so that visits find connections and the event loop free. */
const RENEWALS_AT_ONCE = 4
/** Those that wait for it at most; what changes beyond is loaded when it is asked for. */
const RENEWALS_WAITING_MAX = 10_000

/** What a cache has been asked since it was made, and what it holds now. */
export type CacheUse = {
  /** Asked for what it held. */
  readonly hits: number
  /** Asked for what it knew not to exist. */
  readonly absences: number
  /** Asked for what it had to load, or was loading. */
  readonly misses: number
  readonly entries: number
  /** How much of the room for values is taken, from 0 to 1. */
  readonly fullness: number
}

/** Who mirrors what a cache holds. */
export type CacheMirror<V> = {
  /** The cache holds this now. */
  keep(name: string, value: V): void
  /** It does not any more. */
  drop(name: string): void
}

/**
 * A bounded cache in front of the store that never shows what has been changed: whoever changes a
 * value calls `forget` or `renew`, also for values that are being loaded just then. Several asking for the same
 * value at once wait for one load.
 */
export class CoherentCache<V extends object> {
  readonly #present: SieveCache<V>
  readonly #absent = new SieveCache<true>(ABSENT_BYTES_MAX)
  readonly #loads = new Map<string, Promise<V | undefined>>()
  readonly #load: (name: string) => Promise<V | undefined>
  readonly #sizeOf: (value: V) => number
  readonly #sizeMax: number
  readonly #mirror: CacheMirror<V> | undefined
  /** Names whose values have changed, and are to be loaded. */
  readonly #renewals = new Set<string>()
  #isRenewing = false
  #hits = 0
  #absences = 0
  #misses = 0

  /**
   * @param options.sizeMax of all values together, in the unit of `sizeOf`
   * @param options.load finds a value; undefined where there is none
   */
  constructor(options: {
    sizeMax: number
    sizeOf: (value: V) => number
    load: (name: string) => Promise<V | undefined>
    mirror?: CacheMirror<V> | undefined
  }) {
    const { mirror } = options
    this.#present = new SieveCache(options.sizeMax, (_value, name) => mirror?.drop(name))
    this.#mirror = mirror
    this.#sizeMax = options.sizeMax
    this.#sizeOf = options.sizeOf
    this.#load = options.load
  }

  get use(): CacheUse {
    return {
      hits: this.#hits,
      absences: this.#absences,
      misses: this.#misses,
      entries: this.#present.count,
      fullness: this.#present.size / this.#sizeMax,
    }
  }

  /** At once where it is known; undefined for what does not exist. */
  get(name: string): V | undefined | Promise<V | undefined> {
    const value = this.#present.get(name)
    if (value !== undefined) {
      this.#hits += 1
      return value
    }
    if (this.#absent.get(name) === true) {
      this.#absences += 1
      return undefined
    }
    this.#misses += 1
    return this.#loads.get(name) ?? this.#startLoad(name)
  }

  /** Whether it still holds this very value. */
  holds(name: string, value: V): boolean {
    return this.#present.get(name) === value
  }

  /** Takes in what a mirror had of an earlier cache. */
  restore(name: string, value: V): void {
    this.#present.set(name, value, this.#sizeOf(value))
  }

  forget(name: string): void {
    this.#present.delete(name)
    this.#absent.delete(name)
    this.#loads.delete(name)
  }

  /**
   * Forgets a value that has changed, and loads it where it was held, so that it is there when the store
   * is not. A load that fails leaves nothing behind.
   */
  renew(name: string): void {
    const isWanted = this.#present.has(name) || this.#loads.has(name)
    this.forget(name)
    if (!isWanted || this.#renewals.size >= RENEWALS_WAITING_MAX) return
    this.#renewals.add(name)
    if (!this.#isRenewing) void this.#renewWaiting()
  }

  forgetAll(): void {
    this.#renewals.clear()
    this.#present.clear()
    this.#absent.clear()
    this.#loads.clear()
  }

  /** Forgets which names have nothing behind them. */
  forgetAbsences(): void {
    this.#absent.clear()
  }

  async #renewWaiting(): Promise<void> {
    this.#isRenewing = true
    while (this.#renewals.size > 0) {
      const names = [...this.#renewals.values().take(RENEWALS_AT_ONCE)]
      for (const name of names) this.#renewals.delete(name)
      const missing = names.filter((name) => !this.#present.has(name) && !this.#loads.has(name))
      await Promise.allSettled(missing.map((name) => this.#startLoad(name)))
      await nextTurn()
    }
    this.#isRenewing = false
  }

  #startLoad(name: string): Promise<V | undefined> {
    const startedMs = performance.now()
    const load: Promise<V | undefined> = this.#load(name)
      .then((value) => {
        // A load that was forgotten meanwhile may have read the old value: answer, but do not keep.
        // One that took long may have read it long ago: then that is no answer any more either.
        if (this.#loads.get(name) !== load) {
          return performance.now() - startedMs > ANSWER_AGE_MS_MAX ? this.get(name) : value
        }
        if (value === undefined) {
          this.#absent.set(name, true, absentBytes(name))
        } else if (this.#present.set(name, value, this.#sizeOf(value))) {
          this.#mirror?.keep(name, value)
        }
        return value
      })
      .finally(() => {
        if (this.#loads.get(name) === load) this.#loads.delete(name)
      })
    this.#loads.set(name, load)
    return load
  }
}

function absentBytes(name: string): number {
  return ABSENT_ENTRY_BYTES + name.length * 2
}
