import { ByteReader } from '../../platform/bytes/byte-reader.ts'
import { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { CLICK_DIMENSIONS } from '../click.ts'
import { type ClickColumns, VALUE_COLUMNS } from '../click-columns.ts'
import { slotOf } from './click-day.ts'
import { clickTag, TALLY } from './day-codec.ts'
import { SlotTable } from './slot-table.ts'
import { ValueCounts } from './value-counts.ts'
import { VisitorSketch } from './visitor-sketch.ts'

/** The row of the day's total in its table. */
const TOTAL = 0

/**
 * Adds up clicks of one subject and day in arrays that are used again: a `DayTally` has an object for each value, which
 * takes several times as long.
 */
export class DaySums {
  #total = new SlotTable()
  #values = CLICK_DIMENSIONS.map(() => new ValueCounts())
  #visitors = new VisitorSketch()
  readonly #writer = new ByteWriter()

  addClick(clicks: ClickColumns, index: number): void {
    const slot = slotOf(clicks.at[index] ?? 0)
    const count = clicks.count[index] ?? 0
    const isPerson = clicks.flags[index] === 0
    const persons = isPerson ? count : 0
    const others = isPerson ? 0 : count
    this.#total.add(TOTAL, slot, persons, others)
    if (isPerson) this.#visitors.add(clicks.visitor[index] ?? 0)
    for (let column = 0, dimension = 0; column < VALUE_COLUMNS.length; column += 1) {
      const { bytes, start, end } = clicks.textRange(column, index)
      for (let at = start; at < end; dimension += 1) {
        const text = at
        at += 1 + (bytes[at] ?? 0)
        const values = this.#values[dimension]
        values?.add(values.numberOf(bytes, text, at), slot, persons, others)
      }
    }
  }

  /**
   * Adds chunks of a day (day-codec.ts).
   *
   * @throws {RangeError} when they are damaged; then nothing is added up
   */
  addChunks(chunks: Uint8Array): void {
    try {
      const reader = new ByteReader(chunks)
      while (!reader.ended) {
        const tag = reader.byte()
        if (tag === TALLY) this.#addTally(reader)
        else this.#addClickOf(tag, reader)
      }
    } catch (error) {
      this.#total = new SlotTable()
      this.#values = CLICK_DIMENSIONS.map(() => new ValueCounts())
      this.#visitors = new VisitorSketch()
      throw error
    }
  }

  /**
   * Returns the tally of what was added (day-codec.ts), and starts again. Of a dimension it has at most `VALUES_MAX`
   * values, as after `limitValues`.
   */
  take(): Buffer {
    const writer = this.#writer
    writer.byte(TALLY)
    this.#total.take(TOTAL, writer)
    this.#visitors.write(writer)
    this.#visitors = new VisitorSketch()
    for (const values of this.#values) values.take(writer)
    return writer.take()
  }

  #addClickOf(tag: number, reader: ByteReader): void {
    const { slot, persons, others } = clickTag(tag)
    this.#total.add(TOTAL, slot, persons, others)
    if (persons > 0) this.#visitors.add(reader.uint56())
    for (const values of this.#values) {
      values.add(nextValue(reader, values), slot, persons, others)
    }
  }

  #addTally(reader: ByteReader): void {
    for (let slots = reader.varint(); slots > 0; slots -= 1) {
      this.#total.add(TOTAL, reader.byte(), reader.varint(), reader.varint())
    }
    this.#visitors.read(reader)
    for (const values of this.#values) {
      for (let count = reader.varint(); count > 0; count -= 1) {
        const number = nextValue(reader, values)
        for (let slots = reader.varint(); slots > 0; slots -= 1) {
          values.add(number, reader.byte(), reader.varint(), reader.varint())
        }
      }
    }
  }
}

function nextValue(reader: ByteReader, values: ValueCounts): number {
  const length = reader.byte()
  const at = reader.skip(length)
  return values.numberOf(reader.source, at - 1, at + length)
}
