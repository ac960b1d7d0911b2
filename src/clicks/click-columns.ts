import { enlarge } from '../platform/bytes/bytes.ts'
import {
  CLICK_DIMENSIONS,
  type Click,
  LABEL_INDEX,
  UNLABELLED_COUNT,
  UNPLACED_COUNT,
  VISITOR_DIMENSIONS,
} from './click.ts'
import { ValueNumbers } from './tally/values.ts'

/** Of `CLICK_DIMENSIONS`: from here on they are `SPARSE_DIMENSIONS`. */
const FIRST_SPARSE: number = VISITOR_DIMENSIONS.length
const INITIAL_CLICKS = 256
const VALUE_LENGTH_MAX = 255

/** Some of the clicks of `ClickColumns`: those whose indexes stand from `start` (included) to `end` (excluded). */
export type ClickRun = {
  readonly indexes: Uint32Array
  readonly start: number
  readonly end: number
}

export function wholeRun(indexes: Uint32Array): ClickRun {
  return { indexes, start: 0, end: indexes.length }
}

/** Clicks by columns: an object and seven texts for each would take several times as long. */
export class ClickColumns {
  /** The number of clicks. The columns have room for more. */
  length = 0
  /** Microseconds since the epoch. */
  at = new Float64Array(INITIAL_CLICKS)
  link_seq = new Float64Array(INITIAL_CLICKS)
  /** See `Click`, as for the next two. */
  flags = new Uint16Array(INITIAL_CLICKS)
  count = new Float64Array(INITIAL_CLICKS)
  visitor = new Float64Array(INITIAL_CLICKS)
  /** 1 for a click that took one of its link's limit (`Click.isLimited`), otherwise 0. */
  limited = new Uint8Array(INITIAL_CLICKS)
  /** For each of `CLICK_DIMENSIONS`: the number of each click's value in `values`. */
  numbers = CLICK_DIMENSIONS.map(() => new Uint32Array(INITIAL_CLICKS))
  /** For each of `CLICK_DIMENSIONS`. In `SPARSE_DIMENSIONS` the number 0 stands for '', which most clicks have. */
  readonly values = CLICK_DIMENSIONS.map((_, dimension) => valuesOf(dimension))
  /** Whether any click has a value in `SPARSE_DIMENSIONS`: then each is looked at, twice while it is counted. */
  #hasSparse = false
  /** `values` as texts, as far as they have been read. */
  readonly #texts = CLICK_DIMENSIONS.map((): string[] => [])

  static of(clicks: readonly Click[]): ClickColumns {
    const columns = new ClickColumns()
    for (const click of clicks) columns.add(click)
    return columns
  }

  /** Removes all clicks. Their memory is used again. */
  clear(): void {
    this.length = 0
    this.#hasSparse = false
    for (const [dimension, values] of this.values.entries()) {
      values.clear()
      if (dimension >= FIRST_SPARSE) values.numberOf(NO_BYTES, 0, 0)
    }
    for (const texts of this.#texts) texts.length = 0
  }

  /** Makes room for one more click. Returns its index. It exists when `length` is increased. */
  next(): number {
    if (this.length === this.at.length) this.#enlarge()
    return this.length
  }

  add(click: Click): void {
    const index = this.next()
    this.at[index] = click.at
    this.link_seq[index] = click.link_seq
    this.flags[index] = click.flags
    this.count[index] = click.count
    this.visitor[index] = click.visitor
    this.limited[index] = click.isLimited === true ? 1 : 0
    for (const [dimension, name] of CLICK_DIMENSIONS.entries()) {
      const value = Buffer.from(click[name])
      if (value.length > VALUE_LENGTH_MAX) throw new RangeError(`the ${name} is too long`)
      this.setValue(dimension, index, value, 0, value.length)
    }
    this.length += 1
  }

  /** @param dimension its index in `CLICK_DIMENSIONS` */
  setValue(dimension: number, index: number, source: Uint8Array, start: number, end: number): void {
    const numbers = this.numbers[dimension]
    if (numbers === undefined) throw new RangeError(`there is no dimension ${dimension}`)
    numbers[index] = this.values[dimension]?.numberOf(source, start, end) ?? 0
    if (dimension >= FIRST_SPARSE && end > start) this.#hasSparse = true
  }

  /**
   * Sets a click's values to '' from one dimension on.
   *
   * @param from an index in `CLICK_DIMENSIONS` of one of `SPARSE_DIMENSIONS`
   */
  setNone(index: number, from = FIRST_SPARSE): void {
    for (let dimension = from; dimension < this.numbers.length; dimension += 1) {
      const numbers = this.numbers[dimension] as Uint32Array
      numbers[index] = 0
    }
  }

  /** Whether any click has a value in `SPARSE_DIMENSIONS`. */
  get hasSparse(): boolean {
    return this.#hasSparse
  }

  /** How many of `CLICK_DIMENSIONS`, from the first on, hold all values of a click: without a rule, a label and a place fewer. */
  dimensionsOf(index: number): number {
    if (!this.#hasSparse) return FIRST_SPARSE
    for (let dimension = UNPLACED_COUNT; dimension < this.numbers.length; dimension += 1) {
      if (this.numbers[dimension]?.[index] !== 0) return CLICK_DIMENSIONS.length
    }
    if (this.numbers[LABEL_INDEX]?.[index] !== 0) return UNPLACED_COUNT
    for (let dimension = FIRST_SPARSE; dimension < LABEL_INDEX; dimension += 1) {
      if (this.numbers[dimension]?.[index] !== 0) return UNLABELLED_COUNT
    }
    return FIRST_SPARSE
  }

  /** The number of a click's label in `labels`; 0 for none. */
  labelOf(index: number): number {
    return this.numbers[LABEL_INDEX]?.[index] ?? 0
  }

  /** The distinct labels, by their numbers. */
  get labels(): ValueNumbers {
    return this.values[LABEL_INDEX] as ValueNumbers
  }

  /** @param label at most 255 bytes long */
  setLabel(index: number, label: string): void {
    const value = Buffer.from(label)
    this.setValue(LABEL_INDEX, index, value, 0, value.length)
  }

  /** The number of visits. */
  get visits(): number {
    let visits = 0
    for (let index = 0; index < this.length; index += 1) visits += this.count[index] ?? 0
    return visits
  }

  /** The number of visits of some clicks. */
  visitsOf(indexes: Uint32Array): number {
    let visits = 0
    for (const index of indexes) visits += this.count[index] ?? 0
    return visits
  }

  /** The indexes of all clicks, in order. */
  indexes(): Uint32Array {
    const indexes = new Uint32Array(this.length)
    for (let index = 0; index < indexes.length; index += 1) indexes[index] = index
    return indexes
  }

  /** Returns the click at an index below `length`. */
  click(index: number): Click {
    return {
      at: this.at[index] ?? 0,
      link_seq: this.link_seq[index] ?? 0,
      flags: this.flags[index] ?? 0,
      count: this.count[index] ?? 0,
      visitor: this.visitor[index] ?? 0,
      country: this.text(0, index),
      device: this.text(1, index),
      os: this.text(2, index),
      browser: this.text(3, index),
      referrer: this.text(4, index),
      language: this.text(5, index),
      source: this.text(6, index),
      rule: this.text(7, index),
      variant: this.text(8, index),
      label: this.text(9, index),
      region: this.text(10, index),
      city: this.text(11, index),
      ...(this.limited[index] === 1 && { isLimited: true }),
    }
  }

  /** @param dimension its index in `CLICK_DIMENSIONS` */
  text(dimension: number, index: number): string {
    const number = this.numbers[dimension]?.[index] ?? 0
    const texts = this.#texts[dimension] as string[]
    texts[number] ??= this.values[dimension]?.textOf(number) ?? ''
    return texts[number]
  }

  #enlarge(): void {
    const length = 2 * this.at.length
    this.at = enlarge(this.at, length)
    this.link_seq = enlarge(this.link_seq, length)
    this.flags = enlarge(this.flags, length)
    this.count = enlarge(this.count, length)
    this.visitor = enlarge(this.visitor, length)
    this.limited = enlarge(this.limited, length)
    this.numbers = this.numbers.map((numbers) => enlarge(numbers, length))
  }
}

function valuesOf(dimension: number): ValueNumbers {
  const values = new ValueNumbers()
  if (dimension >= FIRST_SPARSE) values.numberOf(NO_BYTES, 0, 0)
  return values
}

const NO_BYTES = new Uint8Array(0)
