import { ByteReader } from '../../platform/bytes/byte-reader.ts'
import { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { CLICK_DIMENSIONS } from '../click.ts'
import { clickTag, TALLY } from './day-codec.ts'
import { SlotTable } from './slot-table.ts'
import { ValueCounts } from './value-counts.ts'
import { VisitorSketch } from './visitor-sketch.ts'

/** The row of the day's total in its table. */
const TOTAL = 0

/**
 * Folds chunks of a day (day-codec.ts) into one tally, in arrays: a `DayTally` has an object for each
 * value, which takes several times as long.
 */
export class ChunkFolder {
  #total = new SlotTable()
  #values = CLICK_DIMENSIONS.map(() => new ValueCounts())
  readonly #writer = new ByteWriter()

  /**
   * Returns the tally of all chunks. It has at most `VALUES_MAX` values of a dimension, as after `limitValues`.
   *
   * @throws {RangeError} when the chunks are damaged
   */
  fold(chunks: Uint8Array): Buffer {
    try {
      return this.#fold(chunks)
    } catch (error) {
      // Nothing of a damaged day may get into the next one.
      this.#total = new SlotTable()
      this.#values = CLICK_DIMENSIONS.map(() => new ValueCounts())
      throw error
    }
  }

  #fold(chunks: Uint8Array): Buffer {
    const reader = new ByteReader(chunks)
    const visitors = new VisitorSketch()
    while (!reader.ended) {
      const tag = reader.byte()
      if (tag === TALLY) this.#addTally(reader, visitors)
      else this.#addClick(reader, tag, visitors)
    }
    const writer = this.#writer
    writer.byte(TALLY)
    this.#total.take(TOTAL, writer)
    visitors.write(writer)
    for (const values of this.#values) values.take(writer)
    return writer.take()
  }

  #addClick(reader: ByteReader, tag: number, visitors: VisitorSketch): void {
    const { slot, persons, others } = clickTag(tag)
    this.#total.add(TOTAL, slot, persons, others)
    if (persons > 0) visitors.add(reader.uint56())
    for (const values of this.#values) {
      values.add(nextValue(reader, values), slot, persons, others)
    }
  }

  #addTally(reader: ByteReader, visitors: VisitorSketch): void {
    for (let slots = reader.varint(); slots > 0; slots -= 1) {
      this.#total.add(TOTAL, reader.byte(), reader.varint(), reader.varint())
    }
    visitors.read(reader)
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
