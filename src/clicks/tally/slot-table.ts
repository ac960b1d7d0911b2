import type { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { SLOTS_PER_DAY } from './click-day.ts'

const BITS = 32
/** Words with a bit for each quarter hour of a day. */
const WORDS = SLOTS_PER_DAY / BITS
const INITIAL_ROWS = 16

/**
 * Clicks of people and others by quarter hour of a day, for each of many numbered subjects, in arrays: an object for
 * each subject would cost more than the additions.
 */
export class SlotTable {
  /** For each row and quarter hour: people's clicks, others. They may exceed 32 bits: imports have sums. */
  #counts = new Float64Array(INITIAL_ROWS * SLOTS_PER_DAY * 2)
  /** For each row: the quarter hours that have been added to. */
  #slots = new Uint32Array(INITIAL_ROWS * WORDS)

  /** Makes room for rows from 0 to below `rows`. */
  reserve(rows: number): void {
    if (rows * WORDS <= this.#slots.length) return
    const capacity = 2 * rows
    const counts = new Float64Array(capacity * SLOTS_PER_DAY * 2)
    const slots = new Uint32Array(capacity * WORDS)
    counts.set(this.#counts)
    slots.set(this.#slots)
    this.#counts = counts
    this.#slots = slots
  }

  /**
   * @param row must be reserved
   * @param slot 0 to 95
   * @throws {RangeError} for another slot, which would be one of the next row
   */
  add(row: number, slot: number, persons: number, others: number): void {
    if (slot >= SLOTS_PER_DAY) throw new RangeError(`unknown quarter hour: ${slot}`)
    const word = row * WORDS + (slot >>> 5)
    this.#slots[word] = (this.#slots[word] ?? 0) | (1 << (slot & 31))
    const at = (row * SLOTS_PER_DAY + slot) * 2
    this.#counts[at] = (this.#counts[at] ?? 0) + persons
    this.#counts[at + 1] = (this.#counts[at + 1] ?? 0) + others
  }

  isEmpty(row: number): boolean {
    const word = row * WORDS
    return this.#slots[word] === 0 && this.#slots[word + 1] === 0 && this.#slots[word + 2] === 0
  }

  /** The number of all clicks of a row. */
  sum(row: number): number {
    let sum = 0
    const end = (row + 1) * SLOTS_PER_DAY * 2
    for (let at = row * SLOTS_PER_DAY * 2; at < end; at += 1) sum += this.#counts[at] ?? 0
    return sum
  }

  /** Adds a row to another one, and empties it. */
  move(row: number, into: number): void {
    this.#take(row, (slot, persons, others) => this.add(into, slot, persons, others))
  }

  /** Writes a row as the day's format has it (day-codec.ts), and empties it. */
  take(row: number, writer: ByteWriter): void {
    writer.varint(this.#size(row))
    this.#take(row, (slot, persons, others) => {
      writer.byte(slot)
      writer.varint(persons)
      writer.varint(others)
    })
  }

  #size(row: number): number {
    let size = 0
    for (let word = row * WORDS; word < (row + 1) * WORDS; word += 1) {
      for (let bits = this.#slots[word] ?? 0; bits !== 0; bits &= bits - 1) size += 1
    }
    return size
  }

  /** Visits the quarter hours of a row in ascending order, and empties it. */
  #take(row: number, visit: (slot: number, persons: number, others: number) => void): void {
    for (let nth = 0; nth < WORDS; nth += 1) {
      const word = row * WORDS + nth
      for (let bits = this.#slots[word] ?? 0; bits !== 0; bits &= bits - 1) {
        const slot = nth * BITS + 31 - Math.clz32(bits & -bits)
        const at = (row * SLOTS_PER_DAY + slot) * 2
        visit(slot, this.#counts[at] ?? 0, this.#counts[at + 1] ?? 0)
        this.#counts[at] = 0
        this.#counts[at + 1] = 0
      }
      this.#slots[word] = 0
    }
  }
}
