import { CLICK_DIMENSIONS, CLICK_FLAGS, type Click, UNKNOWN_VISITOR } from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import { minuteOf } from '../tally/click-day.ts'

/**
 * The journal record of a click; numbers are little-endian:
 *
 *     length    2 bytes  of the whole record
 *     flags     2 bytes
 *     instant   8 bytes  double, microseconds
 *     link      8 bytes  double
 *     visitor   8 bytes  double
 *     lengths   1 byte   for each of CLICK_DIMENSIONS
 *     values    of CLICK_DIMENSIONS in their order, printable ASCII
 *
 * Capped clicks of one link and minute share one record, recognized by its length:
 *
 *     length    2 bytes  24
 *     flags     2 bytes
 *     instant   8 bytes  double, microseconds, of the first
 *     link      8 bytes  double
 *     count     4 bytes
 */
const COUNT_AT = 20
const COUNT_RECORD_BYTES = 24
const COUNT_MAX = 0xffff_ffff
const LENGTHS_AT = 28
const VALUES_AT = LENGTHS_AT + CLICK_DIMENSIONS.length
const VALUE_LENGTH_MAX = 255
const FIRST_PRINTABLE = 0x20
const LAST_PRINTABLE = 0x7e
const UNPRINTABLE = '?'.charCodeAt(0)

export const RECORD_BYTES_MAX = VALUES_AT + CLICK_DIMENSIONS.length * VALUE_LENGTH_MAX

/**
 * Encodes a click. At least `RECORD_BYTES_MAX` bytes must be free.
 *
 * @param view a view of the same bytes; it writes numbers twice as fast as a `Buffer`
 * @returns the end of the record
 */
export function encodeRecord(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  click: Click,
): number {
  view.setUint16(start + 2, click.flags, true)
  view.setFloat64(start + 4, click.at, true)
  view.setFloat64(start + 12, click.link_seq, true)
  view.setFloat64(start + 20, click.visitor, true)
  let lengthAt = start + LENGTHS_AT
  let end = start + VALUES_AT
  for (const dimension of CLICK_DIMENSIONS) {
    const length = encodeValue(bytes, end, click[dimension])
    bytes[lengthAt] = length
    lengthAt += 1
    end += length
  }
  view.setUint16(start, end - start, true)
  return end
}

/**
 * Encodes a capped click. At least `RECORD_BYTES_MAX` bytes must be free.
 *
 * @returns the end of the record
 */
export function encodeCapped(view: DataView, start: number, click: Click): number {
  view.setUint16(start, COUNT_RECORD_BYTES, true)
  view.setUint16(start + 2, click.flags, true)
  view.setFloat64(start + 4, click.at, true)
  view.setFloat64(start + 12, click.link_seq, true)
  view.setUint32(start + COUNT_AT, click.count, true)
  return start + COUNT_RECORD_BYTES
}

/** Adds a click of the same link to a record of `encodeCapped`. False if its minute differs. */
export function addCapped(view: DataView, start: number, click: Click): boolean {
  if (minuteOf(view.getFloat64(start + 4, true)) !== minuteOf(click.at)) return false
  const count = view.getUint32(start + COUNT_AT, true) + click.count
  if (count > COUNT_MAX) return false
  view.setUint32(start + COUNT_AT, count, true)
  return true
}

/** Writes character by character, which is faster for short texts than a native call. */
function encodeValue(bytes: Uint8Array, start: number, value: string): number {
  const length = Math.min(value.length, VALUE_LENGTH_MAX)
  for (let at = 0; at < length; at += 1) {
    const code = value.charCodeAt(at)
    bytes[start + at] = code >= FIRST_PRINTABLE && code <= LAST_PRINTABLE ? code : UNPRINTABLE
  }
  return length
}

/**
 * Adds the click whose record begins at `start`.
 *
 * @param view a view of the same bytes
 * @returns the end of the record; undefined for an invalid one, of which nothing is added
 */
export function decodeRecord(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  into: ClickColumns,
): number | undefined {
  if (start + COUNT_RECORD_BYTES > bytes.length) return undefined
  const end = start + view.getUint16(start, true)
  const isCapped = end === start + COUNT_RECORD_BYTES
  if (!isCapped && (start + VALUES_AT > bytes.length || end > bytes.length)) return undefined
  const flags = view.getUint16(start + 2, true)
  const instant = view.getFloat64(start + 4, true)
  const linkSeq = view.getFloat64(start + 12, true)
  const visitor = isCapped ? UNKNOWN_VISITOR : view.getFloat64(start + 20, true)
  const count = isCapped ? view.getUint32(start + COUNT_AT, true) : 1
  if (!isCount(instant) || !isCount(linkSeq) || !isCount(visitor)) return undefined
  if (isCapped && (count === 0 || flags !== CLICK_FLAGS.capped)) return undefined
  const index = into.next()
  into.flags[index] = flags
  into.at[index] = instant
  into.link_seq[index] = linkSeq
  into.visitor[index] = visitor
  into.count[index] = count
  let at = isCapped ? end : start + VALUES_AT
  for (let dimension = 0; dimension < CLICK_DIMENSIONS.length; dimension += 1) {
    const valueEnd = isCapped ? at : at + (bytes[start + LENGTHS_AT + dimension] ?? 0)
    if (valueEnd > end || !isPrintable(bytes, at, valueEnd)) return undefined
    into.setValue(dimension, index, bytes, at, valueEnd)
    at = valueEnd
  }
  if (at !== end) return undefined
  into.length += 1
  return end
}

function isPrintable(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    const code = bytes[at] ?? 0
    if (code < FIRST_PRINTABLE || code > LAST_PRINTABLE) return false
  }
  return true
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
