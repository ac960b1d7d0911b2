import type { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { OTHER_VALUE, VALUES_MAX } from './day-tally.ts'
import { SlotTable } from './slot-table.ts'
import { ValueNumbers } from './value-numbers.ts'

/** With more, values are numbered again: the arrays must not keep growing. */
const NUMBERS_MAX = 1_024

const OTHER = Uint8Array.from([OTHER_VALUE.length, ...Buffer.from(OTHER_VALUE, 'latin1')])

/** Counts the clicks of one subject and day by the values of one dimension, in arrays that are used again. */
export class ValueCounts {
  /** Each value is preceded by its length, as in the day's format. */
  readonly #numbers = new ValueNumbers()
  readonly #table = new SlotTable()
  /** The numbers of the values that have been counted, in this order. */
  #used = new Uint32Array(64)
  #usedCount = 0

  /**
   * @param start where the value's length is, which its text follows
   * @param end behind the text
   * @returns the number to count the value by until `take`
   */
  numberOf(source: Uint8Array, start: number, end: number): number {
    const number = this.#numbers.numberOf(source, start, end)
    this.#table.reserve(number + 1)
    return number
  }

  add(number: number, slot: number, persons: number, others: number): void {
    if (this.#table.isEmpty(number)) this.#use(number)
    this.#table.add(number, slot, persons, others)
  }

  /**
   * Writes the values with their quarter hours as the day's format has them (day-codec.ts), and starts again. Of more
   * than `VALUES_MAX` values it writes those with the most clicks, and the sum of the others as `OTHER_VALUE`.
   */
  take(writer: ByteWriter): void {
    this.#limit()
    writer.varint(this.#usedCount)
    for (let nth = 0; nth < this.#usedCount; nth += 1) {
      const number = this.#used[nth] ?? 0
      const { bytes } = this.#numbers
      writer.copy(bytes, this.#numbers.start(number), this.#numbers.start(number + 1))
      this.#table.take(number, writer)
    }
    this.#usedCount = 0
    if (this.#numbers.size > NUMBERS_MAX) this.#numbers.clear()
  }

  #use(number: number): void {
    if (this.#usedCount === this.#used.length) {
      const larger = new Uint32Array(2 * this.#usedCount)
      larger.set(this.#used)
      this.#used = larger
    }
    this.#used[this.#usedCount] = number
    this.#usedCount += 1
  }

  #limit(): void {
    if (this.#usedCount <= VALUES_MAX) return
    const other = this.numberOf(OTHER, 0, OTHER.length)
    const ranked = [...this.#used.subarray(0, this.#usedCount)]
      .filter((number) => number !== other)
      .map((number) => ({ number, sum: this.#table.sum(number) }))
      .sort((a, b) => b.sum - a.sum || Buffer.compare(this.#text(a.number), this.#text(b.number)))
    if (ranked.length <= VALUES_MAX) return
    for (const { number } of ranked.splice(VALUES_MAX)) this.#table.move(number, other)
    this.#usedCount = 0
    for (const { number } of ranked) this.#use(number)
    this.#use(other)
  }

  /** The value without its length. */
  #text(number: number): Uint8Array {
    return this.#numbers.bytes.subarray(
      this.#numbers.start(number) + 1,
      this.#numbers.start(number + 1),
    )
  }
}
