import { ValueNumbers } from './value-numbers.ts'

const INITIAL_VALUES = 256

type Counts = { readonly persons: number; readonly others: number }

/**
 * Adds up the values of a dimension over many days from their stored bytes. An object and a string for each value of
 * each day would take most of the time of a report.
 */
export class ValueTotals {
  readonly #numbers = new ValueNumbers()
  #persons = new Float64Array(INITIAL_VALUES)
  #others = new Float64Array(INITIAL_VALUES)

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
    const { bytes, size } = this.#numbers
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let number = 0; number < size; number += 1) {
      const [start, end] = [this.#numbers.start(number), this.#numbers.start(number + 1)]
      pass(text.toString('latin1', start, end), {
        persons: this.#persons[number] ?? 0,
        others: this.#others[number] ?? 0,
      })
    }
    this.#numbers.clear()
    this.#persons.fill(0)
    this.#others.fill(0)
  }

  #enlarge(): void {
    const [persons, others] = [this.#persons, this.#others]
    this.#persons = new Float64Array(2 * persons.length)
    this.#others = new Float64Array(2 * others.length)
    this.#persons.set(persons)
    this.#others.set(others)
  }
}
