import { setImmediate as nextTurn } from 'node:timers/promises'
import { SieveCache } from '../platform/cache/sieve-cache.ts'
import type { ChangeCursor } from './changes.ts'

/** Memory for names without a value. Kept separately, so that a flood of them evicts no value. */
const ABSENT_BYTES_MAX = 16 * 1024 * 1024
/** The approximate overhead of one such name. */
const ABSENT_ENTRY_BYTES = 200
/** How long a result may still be returned after a change made it stale. */
export const ANSWER_AGE_MS_MAX = 500

/** Concurrent reloads of changed values: few, so that visits find free connections and a free event loop. */
const RENEWALS_AT_ONCE = 4
/** Queued reloads at most. A value that changes beyond this limit is loaded on its next request. */
const RENEWALS_WAITING_MAX = 10_000

/** Requests since the cache was created, and its current contents. */
export type CacheUse = {
  /** Requests answered with a cached value. */
  readonly hits: number
  /** Requests for a name that was cached as missing. */
  readonly absences: number
  /** Requests that started or joined a load. */
  readonly misses: number
  readonly entries: number
  /** The used share of the space for values, from 0 to 1. */
  readonly fullness: number
}

/** How a cache keeps its values for a later process. */
type Kept<V> = {
  readonly values: KeptValues
  readonly encode: (value: V) => string
  readonly decode: (text: string) => V
}

/**
 * A bounded cache in front of the store that returns no stale value: the code that changes a value calls
 * `forget` or `renew`, which also covers values that are being loaded. Concurrent requests for the same
 * value share one load.
 */
export class CoherentCache<V extends object> {
  readonly #present: SieveCache<V>
  readonly #absent = new SieveCache<true>(ABSENT_BYTES_MAX)
  readonly #loads = new Map<string, Promise<V | undefined>>()
  readonly #load: (name: string) => Promise<V | undefined>
  readonly #sizeOf: (value: V) => number
  readonly #sizeMax: number
  readonly #kept: Kept<V> | undefined
  /** Names of changed values that wait to be loaded. */
  readonly #renewals = new Set<string>()
  #isRenewing = false
  #hits = 0
  #absences = 0
  #misses = 0

  /**
   * @param options.sizeMax the limit for all values together, in the unit of `sizeOf`
   * @param options.load finds a value, or undefined when none exists
   * @param options.kept undefined where values end with the process
   */
  constructor(options: {
    sizeMax: number
    sizeOf: (value: V) => number
    load: (name: string) => Promise<V | undefined>
    kept?: Kept<V>
  }) {
    const { kept } = options
    this.#present = new SieveCache(options.sizeMax, (_value, name) => kept?.values.drop(name))
    this.#kept = kept
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

  /** Returns synchronously on a hit; undefined when no value exists. */
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

  /** Returns what is cached, without a load and uncounted: undefined for no value, null for not known. */
  peek(name: string): V | undefined | null {
    return this.#present.get(name) ?? (this.#absent.get(name) === true ? undefined : null)
  }

  /** Whether the cache still holds this object. */
  holds(name: string, value: V): boolean {
    return this.#present.get(name) === value
  }

  /** Stores the values that the cache of an earlier process has kept. */
  restore(): void {
    if (this.#kept === undefined) return
    const { values, decode } = this.#kept
    for (const { name, value: text } of values.entries()) {
      const value = decode(text)
      this.#present.set(name, value, this.#sizeOf(value))
    }
  }

  forget(name: string): void {
    this.#present.delete(name)
    this.#absent.delete(name)
    this.#loads.delete(name)
  }

  /**
   * Drops a value that has changed. If it was cached, loads it again, so that it stays available during an
   * outage of the store. After a failed load the value is not cached.
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

  /** Forgets which names have no value. */
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
        // The value changed during this load, so the result may be stale: return it, but do not cache it.
        // After a slow load it may be too old even to return: then load again.
        if (this.#loads.get(name) !== load) {
          return performance.now() - startedMs > ANSWER_AGE_MS_MAX ? this.get(name) : value
        }
        if (value === undefined) {
          this.#absent.set(name, true, absentBytes(name))
        } else if (this.#present.set(name, value, this.#sizeOf(value))) {
          this.#keep(name, value)
        }
        return value
      })
      .finally(() => {
        if (this.#loads.get(name) === load) this.#loads.delete(name)
      })
    this.#loads.set(name, load)
    return load
  }

  #keep(name: string, value: V): void {
    if (this.#kept === undefined) return
    const { values, encode } = this.#kept
    values.keep(name, () => encode(value))
  }
}

function absentBytes(name: string): number {
  return ABSENT_ENTRY_BYTES + name.length * 2
}

/** The place in the change log and the service's host to which kept values belong. */
export type WarmStartState = {
  /** Changes after it are not in the kept values. */
  readonly cursor: ChangeCursor
  /** When the log was read last, in microseconds since the epoch. */
  readonly readAtMicros: number
  /** The host that all workspaces share, and its keyspace. */
  readonly serviceHost: string
  readonly serviceKeyspaceId: number
}

/** A certificate is kept as it is in the database, its private key sealed. */
export type KeptKind = 'host' | 'link' | 'paths' | 'rule-set' | 'visit-settings' | 'certificate'

/**
 * Cached values of one kind on disk. The caller drops a value in the same turn of the event loop in
 * which the change log reports its change, so that a kept value is never older than the kept cursor.
 */
export type KeptValues = {
  /** What an earlier process kept. */
  entries(): Iterable<{ readonly name: string; readonly value: string }>
  /** @param encode called only where values are kept */
  keep(name: string, encode: () => string): void
  drop(name: string): void
}

/**
 * Keeps the caches of redirects and HTTPS beyond the process, so that a node can start while the
 * database is down. Losing what is kept costs no visit while the database answers.
 */
export type WarmStart = {
  /** Undefined where nothing is kept yet. */
  readonly state: WarmStartState | undefined
  values(kind: KeptKind): KeptValues
  /** Drops the values of all kinds. */
  clear(): void
}

/** Keeps nothing. */
export const COLD_START: WarmStart = {
  state: undefined,
  values: () => ({ entries: () => [], keep() {}, drop() {} }),
  clear() {},
}
