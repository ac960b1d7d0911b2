import { randomBytes } from 'node:crypto'

const secrets = randomBytes(8)
const SEED = secrets.readInt32LE(0)
/** Odd, so that no two states become one. */
const FACTOR = secrets.readInt32LE(4) | 1
const LAST_FACTOR = 0x85eb_ca6b

/**
 * Returns a hash of 32 bits for a table, never 0. Seed and factor are secret and change with each start, so that no
 * client can choose texts of equal hashes. For the same reason a character never reaches the highest bits before it is
 * multiplied: a difference in the highest bit alone would outlast each odd factor.
 */
export function textHash(text: string): number {
  const { length } = text
  let hash = SEED ^ length
  for (let at = 0; at < length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, LAST_FACTOR)
  hash ^= hash >>> 13
  return hash === 0 ? 1 : hash
}

const SLOTS_MIN = 16
/** At most this share of the slots is in use, so that few others lie between a slot and its entry. */
const FULLNESS_MAX = 0.7

/**
 * Finds entries by their texts, like a `Map` of texts. For a text that is new, as that of each request is, a `Map`
 * first looks for it among all texts of the process, and adds it there.
 *
 * An open-addressing hash table with linear probing: a look-up reads one or two places of an array of hashes, and
 * then one entry.
 */
export class TextTable<E extends { readonly key: string }> {
  /** The hash of the entry in each slot; 0 for an empty slot. */
  #hashes = new Int32Array(SLOTS_MIN)
  #entries: (E | undefined)[] = emptySlots(SLOTS_MIN)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): E | undefined {
    return this.#entries[this.#slotOf(key, textHash(key))]
  }

  /** Adds an entry. None with its key may be in the table. */
  add(entry: E): void {
    if (this.#size >= this.#hashes.length * FULLNESS_MAX) this.#resize(this.#hashes.length * 2)
    this.#insert(entry, textHash(entry.key))
    this.#size += 1
  }

  /** Removes the entry with this key, which must be in the table. */
  remove(key: string): void {
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let gap = this.#slotOf(key, textHash(key))
    // Entries after the gap that could not be found across it move into it.
    for (let slot = (gap + 1) & mask; hashes[slot] !== 0; slot = (slot + 1) & mask) {
      const wanted = (hashes[slot] as number) & mask
      if (((slot - wanted) & mask) < ((slot - gap) & mask)) continue
      hashes[gap] = hashes[slot] as number
      this.#entries[gap] = this.#entries[slot]
      gap = slot
    }
    hashes[gap] = 0
    this.#entries[gap] = undefined
    this.#size -= 1
  }

  clear(): void {
    this.#hashes = new Int32Array(SLOTS_MIN)
    this.#entries = emptySlots(SLOTS_MIN)
    this.#size = 0
  }

  *[Symbol.iterator](): Iterator<E> {
    for (const entry of this.#entries) if (entry !== undefined) yield entry
  }

  /** Returns the slot of the entry with this key, or the empty one where the search ends. */
  #slotOf(key: string, hash: number): number {
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let slot = hash & mask
    for (;;) {
      const found = hashes[slot]
      if (found === 0 || (found === hash && this.#entries[slot]?.key === key)) return slot
      slot = (slot + 1) & mask
    }
  }

  #insert(entry: E, hash: number): void {
    const hashes = this.#hashes
    const mask = hashes.length - 1
    let slot = hash & mask
    while (hashes[slot] !== 0) slot = (slot + 1) & mask
    hashes[slot] = hash
    this.#entries[slot] = entry
  }

  #resize(slots: number): void {
    const hashes = this.#hashes
    const entries = this.#entries
    this.#hashes = new Int32Array(slots)
    this.#entries = emptySlots(slots)
    for (const [slot, entry] of entries.entries()) {
      if (entry !== undefined) this.#insert(entry, hashes[slot] as number)
    }
  }
}

function emptySlots<E>(count: number): (E | undefined)[] {
  return new Array<E | undefined>(count).fill(undefined)
}

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
