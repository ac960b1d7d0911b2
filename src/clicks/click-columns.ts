import { enlarge } from '../platform/bytes/enlarge.ts'
import { CLICK_DIMENSIONS, type Click } from './click.ts'
import { ValueNumbers } from './tally/value-numbers.ts'

/**
 * The dimensions by columns, as the index of the first one and the number of them. Neighbours that depend on each
 * other share a column: device, system and browser; language and source.
 */
export const VALUE_COLUMNS = [
  { first: 0, dimensions: 1 },
  { first: 1, dimensions: 3 },
  { first: 4, dimensions: 1 },
  { first: 5, dimensions: 2 },
] as const

const INITIAL_CLICKS = 256
const TEXT_LENGTH_MAX = 255

/** Some of the clicks of `ClickColumns`. */
export type ClickIndexes = Uint32Array | readonly number[]

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
  /** For each of `VALUE_COLUMNS`: the number of each click's values in `texts`. */
  values = VALUE_COLUMNS.map(() => new Uint32Array(INITIAL_CLICKS))
  /** For each of `VALUE_COLUMNS`: the texts of its dimensions, each after a byte with its length. */
  readonly texts = VALUE_COLUMNS.map(() => new ValueNumbers())
  /** `texts` that have been read as such. */
  readonly #read = VALUE_COLUMNS.map((): (readonly string[])[] => [])

  static of(clicks: readonly Click[]): ClickColumns {
    const columns = new ClickColumns()
    for (const click of clicks) columns.add(click)
    return columns
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
    for (const [column, { first, dimensions }] of VALUE_COLUMNS.entries()) {
      const texts = CLICK_DIMENSIONS.slice(first, first + dimensions).map((name) => click[name])
      this.setValues(column, index, bytesOf(texts))
    }
    this.length += 1
  }

  /** @param texts the texts of the column's dimensions, each after a byte with its length */
  setValues(column: number, index: number, texts: Uint8Array, end = texts.length): void {
    const values = this.values[column]
    if (values === undefined) throw new RangeError(`there is no column ${column}`)
    values[index] = this.texts[column]?.numberOf(texts, 0, end) ?? 0
  }

  /** Returns where the texts of a click are. */
  textRange(column: number, index: number): { bytes: Uint8Array; start: number; end: number } {
    const number = this.values[column]?.[index] ?? 0
    const texts = this.texts[column]
    if (texts === undefined) throw new RangeError(`there is no column ${column}`)
    return { bytes: texts.bytes, start: texts.start(number), end: texts.start(number + 1) }
  }

  /** The number of visits. */
  get visits(): number {
    return this.visitsOf(this.indexes())
  }

  /** The number of visits of some clicks. */
  visitsOf(indexes: ClickIndexes): number {
    let visits = 0
    for (const index of indexes) visits += this.count[index] ?? 0
    return visits
  }

  /** The indexes of all clicks, in order. */
  indexes(): Uint32Array {
    return Uint32Array.from({ length: this.length }, (_, index) => index)
  }

  /** Returns the click at an index below `length`. */
  click(index: number): Click {
    // Destructuring these, and spreading a second object, takes twice as long.
    const place = this.#textsOf(0, index)
    const agent = this.#textsOf(1, index)
    const page = this.#textsOf(2, index)
    const rest = this.#textsOf(3, index)
    return {
      at: this.at[index] ?? 0,
      link_seq: this.link_seq[index] ?? 0,
      flags: this.flags[index] ?? 0,
      count: this.count[index] ?? 0,
      visitor: this.visitor[index] ?? 0,
      country: place[0] ?? '',
      device: agent[0] ?? '',
      os: agent[1] ?? '',
      browser: agent[2] ?? '',
      referrer: page[0] ?? '',
      language: rest[0] ?? '',
      source: rest[1] ?? '',
    }
  }

  toClicks(): Click[] {
    return Array.from({ length: this.length }, (_, index) => this.click(index))
  }

  #textsOf(column: number, index: number): readonly string[] {
    const number = this.values[column]?.[index] ?? 0
    const read = this.#read[column]
    const known = read?.[number]
    if (known !== undefined) return known
    const { bytes, start, end } = this.textRange(column, index)
    const found = textsIn(bytes, start, end)
    if (read !== undefined) read[number] = found
    return found
  }

  #enlarge(): void {
    const length = 2 * this.at.length
    this.at = enlarge(this.at, length)
    this.link_seq = enlarge(this.link_seq, length)
    this.flags = enlarge(this.flags, length)
    this.count = enlarge(this.count, length)
    this.visitor = enlarge(this.visitor, length)
    this.values = this.values.map((numbers) => enlarge(numbers, length))
  }
}

function bytesOf(texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => {
    if (text.length > TEXT_LENGTH_MAX)
      throw new RangeError('the text is longer than 255 characters')
    return Buffer.from(String.fromCharCode(text.length) + text, 'latin1')
  })
  return Buffer.concat(parts)
}

function textsIn(bytes: Uint8Array, start: number, end: number): readonly string[] {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const texts: string[] = []
  for (let at = start; at < end; ) {
    const text = at + 1
    at = text + (source[at] ?? 0)
    texts.push(source.toString('latin1', text, at))
  }
  return texts
}
