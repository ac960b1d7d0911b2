import { TextTable } from './text-table.ts'

type Entry<V> = {
  readonly key: string
  readonly value: V
  readonly size: number
  visited: boolean
  newer: Entry<V> | undefined
  older: Entry<V> | undefined
}

/**
 * A bounded cache with SIEVE eviction (Zhang et al., "SIEVE is Simpler than LRU", NSDI 2024). A hit sets
 * one bit and moves nothing, so it costs less than in an LRU cache. Entries without a second request are
 * evicted first, so a flood of one-time keys leaves popular entries in place.
 *
 * The limit applies to the sum of the sizes passed to `set`, in the caller's unit.
 */
export class SieveCache<V> {
  readonly #sizeMax: number
  readonly #onRemoved: (value: V, key: string) => void
  readonly #entries = new TextTable<Entry<V>>()
  #newest: Entry<V> | undefined
  #oldest: Entry<V> | undefined
  #hand: Entry<V> | undefined
  #size = 0

  /** @param onRemoved called for each value that leaves the cache, for any reason */
  constructor(sizeMax: number, onRemoved: (value: V, key: string) => void = () => {}) {
    this.#sizeMax = sizeMax
    this.#onRemoved = onRemoved
  }

  get size(): number {
    return this.#size
  }

  get count(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // Written only on change: a hit on a visited entry then writes no memory.
    if (!entry.visited) entry.visited = true
    return entry.value
  }

  /** Whether the key has a value. Does not count as a hit. */
  has(key: string): boolean {
    return this.#entries.get(key) !== undefined
  }

  /** Stores `value`. Returns false if it is larger than the whole cache. */
  set(key: string, value: V, size: number): boolean {
    this.delete(key)
    if (size > this.#sizeMax) return false
    while (this.#size + size > this.#sizeMax) this.#evictOne()
    const entry: Entry<V> = {
      key,
      value,
      size,
      visited: false,
      newer: undefined,
      older: this.#newest,
    }
    if (this.#newest !== undefined) this.#newest.newer = entry
    this.#newest = entry
    this.#oldest ??= entry
    this.#entries.add(entry)
    this.#size += size
    return true
  }

  /** Returns whether the key had a value. */
  delete(key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#unlink(entry)
    return entry !== undefined
  }

  clear(): void {
    const entries = [...this.#entries]
    this.#entries.clear()
    this.#newest = undefined
    this.#oldest = undefined
    this.#hand = undefined
    this.#size = 0
    for (const { value, key } of entries) this.#onRemoved(value, key)
  }

  #evictOne(): void {
    let entry = this.#hand ?? this.#oldest
    while (entry?.visited) {
      entry.visited = false
      entry = entry.newer ?? this.#oldest
    }
    if (entry === undefined) return
    this.#hand = entry.newer
    this.#unlink(entry)
  }

  #unlink(entry: Entry<V>): void {
    if (this.#hand === entry) this.#hand = entry.newer
    if (entry.newer === undefined) this.#newest = entry.older
    else entry.newer.older = entry.older
    if (entry.older === undefined) this.#oldest = entry.newer
    else entry.older.newer = entry.newer
    this.#entries.remove(entry.key)
    this.#size -= entry.size
    this.#onRemoved(entry.value, entry.key)
  }
}
