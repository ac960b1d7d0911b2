import { type Click, countedClick } from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import { decodeRecord, encodeRecord, RECORD_BYTES_MAX } from '../journal/record.ts'
import { dayOf } from '../tally/click-day.ts'

/**
 * A part of a spool is a sequence of records. A single click is a record of the journal (record.ts). A sum, which is a
 * count, a total or an opening balance, has 28 bytes, as no other record; numbers are little-endian:
 *
 *     length    2 bytes  28
 *     flags     2 bytes  of a total `PEOPLE_TOTAL` or 0
 *     instant   8 bytes  double, microseconds; of a total or an opening balance the last click, or -1
 *     link      8 bytes  double
 *     count     8 bytes  double
 */
const SUM_BYTES = 28
const LENGTH_AT = 0
const FLAGS_AT = 2
const INSTANT_AT = 4
const LINK_AT = 12
const COUNT_AT = 20

/** The instant of a total or an opening balance whose last click is unknown. */
export const NO_INSTANT = -1

/** The flag of a total in which no bots are counted. */
export const PEOPLE_TOTAL = 1

/** The records of one part at most. */
const PART_RECORDS_MAX = 2_000

export type Sum = Pick<Click, 'at' | 'link_seq' | 'count' | 'flags'>

/** A part before it has its number. */
export type NewPart = {
  readonly bucket: number
  /** The number of records. */
  readonly clicks: number
  readonly data: Uint8Array
}

/** Encodes records into parts. */
export class SpoolEncoder {
  readonly #scratch = Buffer.allocUnsafe(RECORD_BYTES_MAX)
  readonly #view = new DataView(this.#scratch.buffer, this.#scratch.byteOffset, RECORD_BYTES_MAX)
  readonly #records = new Map<number, Buffer[]>()

  addClick(bucket: number, click: Click): void {
    this.#take(bucket, encodeRecord(this.#scratch, this.#view, 0, click))
  }

  addSum(bucket: number, { at, link_seq, count, flags }: Sum): void {
    this.#view.setUint16(LENGTH_AT, SUM_BYTES, true)
    this.#view.setUint16(FLAGS_AT, flags, true)
    this.#view.setFloat64(INSTANT_AT, at, true)
    this.#view.setFloat64(LINK_AT, link_seq, true)
    this.#view.setFloat64(COUNT_AT, count, true)
    this.#take(bucket, SUM_BYTES)
  }

  /** Returns the parts in the order of their buckets, and starts again. */
  finish(): NewPart[] {
    const parts: NewPart[] = []
    for (const [bucket, records] of [...this.#records].sort(([a], [b]) => a - b)) {
      for (let first = 0; first < records.length; first += PART_RECORDS_MAX) {
        const some = records.slice(first, first + PART_RECORDS_MAX)
        parts.push({ bucket, clicks: some.length, data: Buffer.concat(some) })
      }
    }
    this.#records.clear()
    return parts
  }

  #take(bucket: number, length: number): void {
    const record = Buffer.from(this.#scratch.subarray(0, length))
    this.#records.getOrInsertComputed(bucket, () => []).push(record)
  }
}

/**
 * Decodes the clicks of a part; counts are clicks of unknown visitors.
 *
 * @throws {RangeError} when the data is damaged
 */
export function decodeClicks(data: Uint8Array, into: ClickColumns): void {
  const bytes = bufferOf(data)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (const { start, end } of recordsIn(bytes)) {
    if (end - start === SUM_BYTES) {
      const { link_seq, at, count, flags } = sumAt(bytes, start)
      into.add({ ...countedClick(link_seq, at, count), flags })
    } else if (decodeRecord(bytes, view, start, into) === undefined) {
      throw new RangeError('a spooled click is damaged')
    }
  }
}

/** Returns the link and the number of clicks of each record, without decoding the clicks. */
export function* decodeSums(data: Uint8Array): Generator<Sum> {
  const bytes = bufferOf(data)
  for (const { start, end } of recordsIn(bytes)) {
    const sum = sumAt(bytes, start)
    yield end - start === SUM_BYTES ? sum : { ...sum, count: 1 }
  }
}

function sumAt(bytes: Buffer, start: number): Sum {
  return {
    flags: bytes.readUInt16LE(start + FLAGS_AT),
    at: bytes.readDoubleLE(start + INSTANT_AT),
    link_seq: bytes.readDoubleLE(start + LINK_AT),
    count: bytes.readDoubleLE(start + COUNT_AT),
  }
}

function* recordsIn(bytes: Buffer): Generator<{ start: number; end: number }> {
  for (let start = 0; start < bytes.length; ) {
    const end = start + SUM_BYTES <= bytes.length ? start + bytes.readUInt16LE(start) : start
    if (end < start + SUM_BYTES || end > bytes.length) {
      throw new RangeError('a part of a click spool is damaged')
    }
    yield { start, end }
    start = end
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * The parts of a spool are sorted by bucket. Those with clicks are counted one bucket after the other, so that clicks
 * of the same days are counted together.
 */

/** The totals of links at the source: the opening balances are computed from them. They are never counted. */
export const TOTALS_BUCKET = 0
/** The opening balances. */
export const OPENING_BUCKET = 1
const FIRST_DAYS_BUCKET = 2

/**
 * With fewer days in a bucket, a transaction of the importer would write more rows; with more, a batch of clicks would
 * write to more files of days.
 */
const DAYS_PER_BUCKET = 8

/** Returns the bucket of a click. @param atMicros at least 0 */
export function bucketOf(atMicros: number): number {
  return FIRST_DAYS_BUCKET + Math.floor(dayOf(atMicros) / DAYS_PER_BUCKET)
}
