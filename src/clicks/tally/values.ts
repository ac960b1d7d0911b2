import { type ByteWriter, enlarge } from '../../platform/bytes/bytes.ts'

const INITIAL_VALUES = 64
const INITIAL_BYTES = 1024
const FNV_PRIME = 0x01000193

/** Different in each process, so that a visitor cannot choose values that collide. */
const SEED = Math.floor(Math.random() * 2 ** 32)

/** Numbers distinct values by their bytes, from 0 on, without a text for each. */
export class ValueNumbers {
  /** Open addressing: the number of a value plus 1, or 0. */
  #table = new Int32Array(2 * INITIAL_VALUES)
  #hashes = new Int32Array(INITIAL_VALUES)
  #bytes = new Uint8Array(INITIAL_BYTES)
  /** Where each value begins in the bytes, and where the last one ends. */
  #starts = new Uint32Array(INITIAL_VALUES + 1)
  #size = 0

  /** How many values have a number. */
  get size(): number {
    return this.#size
  }

  /** Returns the number of a value, which is the next one if it is new. */
  numberOf(source: Uint8Array, start: number, end: number): number {
    return this.#find(hashOf(source, start, end), source, start, end)
  }

  /** Returns the number that a value of another one has here. */
  numberFrom(other: ValueNumbers, number: number): number {
    const hash = other.#hashes[number] ?? 0
    return this.#find(hash, other.#bytes, other.#start(number), other.#start(number + 1))
  }

  /** Whether a value has a number. */
  has(source: Uint8Array, start: number, end: number): boolean {
    return this.#table[this.#placeOf(hashOf(source, start, end), source, start, end)] !== 0
  }

  textOf(number: number): string {
    const [start, end] = [this.#start(number), this.#start(number + 1)]
    return Buffer.from(this.#bytes.buffer).toString('utf8', start, end)
  }

  /** Writes a value of at most 255 bytes, preceded by its length. */
  write(number: number, writer: ByteWriter): void {
    const [start, end] = [this.#start(number), this.#start(number + 1)]
    writer.byte(end - start)
    writer.copy(this.#bytes, start, end)
  }

  clear(): void {
    this.#table.fill(0)
    this.#size = 0
  }

  #start(number: number): number {
    return this.#starts[number] ?? 0
  }

  #find(hash: number, source: Uint8Array, start: number, end: number): number {
    const place = this.#placeOf(hash, source, start, end)
    const number = (this.#table[place] ?? 0) - 1
    return number < 0 ? this.#add(place, hash, source, start, end) : number
  }

  /** Returns where the table has the value, or has room for it. */
  #placeOf(hash: number, source: Uint8Array, start: number, end: number): number {
    const mask = this.#table.length - 1
    for (let place = hash & mask; ; place = (place + 1) & mask) {
      const number = (this.#table[place] ?? 0) - 1
      if (number < 0) return place
      if (this.#hashes[number] === hash && this.#equals(number, source, start, end)) return place
    }
  }

  #equals(number: number, source: Uint8Array, start: number, end: number): boolean {
    let own = this.#start(number)
    if (this.#start(number + 1) - own !== end - start) return false
    for (let at = start; at < end; at += 1, own += 1) {
      if (this.#bytes[own] !== source[at]) return false
    }
    return true
  }

  #add(place: number, hash: number, source: Uint8Array, from: number, to: number): number {
    const number = this.#size
    const start = this.#start(number)
    const end = start + to - from
    if (number === this.#hashes.length) {
      this.#starts = enlarge(this.#starts, 2 * number + 1)
      this.#hashes = enlarge(this.#hashes, 2 * number)
    }
    if (end > this.#bytes.length) this.#bytes = enlarge(this.#bytes, 2 * end)
    // Faster than `set` for a few bytes.
    for (let at = 0; at < to - from; at += 1) this.#bytes[start + at] = source[from + at] ?? 0
    this.#starts[number + 1] = end
    this.#hashes[number] = hash
    this.#table[place] = number + 1
    this.#size += 1
    if (2 * this.#size > this.#table.length) this.#rehash()
    return number
  }

  #rehash(): void {
    this.#table = new Int32Array(2 * this.#table.length)
    const mask = this.#table.length - 1
    for (let number = 0; number < this.#size; number += 1) {
      let place = (this.#hashes[number] ?? 0) & mask
      while (this.#table[place] !== 0) place = (place + 1) & mask
      this.#table[place] = number + 1
    }
  }
}

function hashOf(source: Uint8Array, start: number, end: number): number {
  let hash = SEED
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (source[at] ?? 0), FNV_PRIME)
  return hash ^ (hash >>> 15)
}

const INITIAL_TOTALS = 256

type Counts = { readonly persons: number; readonly others: number }

/**
 * Adds up the values of a dimension over many days from their stored bytes. An object and a string for each value of
 * each day would take most of the time of a report.
 */
export class ValueTotals {
  readonly #numbers = new ValueNumbers()
  #persons = new Float64Array(INITIAL_TOTALS)
  #others = new Float64Array(INITIAL_TOTALS)

  /** How many distinct values there are. */
  get size(): number {
    return this.#numbers.size
  }

  /**
   * @param start where the value's text begins, in Latin-1
   * @param end behind it
   */
  add(source: Uint8Array, start: number, end: number, persons: number, others: number): void {
    const number = this.#numbers.numberOf(source, start, end)
    if (number >= this.#persons.length) this.#enlarge()
    this.#persons[number] = (this.#persons[number] ?? 0) + persons
    this.#others[number] = (this.#others[number] ?? 0) + others
  }

  /** Passes on each value with its counts, and starts again. */
  take(pass: (value: string, counts: Counts) => void): void {
    for (let number = 0; number < this.size; number += 1) {
      pass(this.#numbers.textOf(number), {
        persons: this.#persons[number] ?? 0,
        others: this.#others[number] ?? 0,
      })
    }
    this.#numbers.clear()
    this.#persons.fill(0)
    this.#others.fill(0)
  }

  #enlarge(): void {
    this.#persons = enlarge(this.#persons, 2 * this.#persons.length)
    this.#others = enlarge(this.#others, 2 * this.#others.length)
  }
}
