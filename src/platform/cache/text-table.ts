import { textHash } from './text-hash.ts'

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
