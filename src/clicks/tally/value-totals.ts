import { enlarge } from '../../platform/bytes/enlarge.ts'
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
