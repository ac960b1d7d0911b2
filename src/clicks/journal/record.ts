import { CLICK_DIMENSIONS, CLICK_FLAGS, type Click, UNKNOWN_VISITOR } from '../click.ts'
import { type ClickColumns, VALUE_COLUMNS } from '../click-columns.ts'
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
  if (start + 2 > bytes.length) return undefined
  const end = start + view.getUint16(start, true)
  if (end === start + COUNT_RECORD_BYTES) return decodeCapped(bytes, view, start, into)
  if (start + VALUES_AT > bytes.length || end > bytes.length) return undefined
  const index = into.next()
  if (!isCount(view.getFloat64(start + 20, true)) || !decodeNumbers(view, start, into, index)) {
    return undefined
  }
  into.visitor[index] = view.getFloat64(start + 20, true)
  into.count[index] = 1
  let at = start + VALUES_AT
  let lengthAt = start + LENGTHS_AT
  for (let column = 0; column < VALUE_COLUMNS.length; column += 1) {
    let scratchEnd = 0
    for (let left = VALUE_COLUMNS[column]?.dimensions ?? 0; left > 0; left -= 1, lengthAt += 1) {
      const valueEnd = at + (bytes[lengthAt] ?? 0)
      if (valueEnd > end) return undefined
      scratch[scratchEnd] = valueEnd - at
      scratchEnd += 1
      for (; at < valueEnd; at += 1, scratchEnd += 1) {
        const code = bytes[at] ?? 0
        if (code < FIRST_PRINTABLE || code > LAST_PRINTABLE) return undefined
        scratch[scratchEnd] = code
      }
    }
    into.setValues(column, index, scratch, scratchEnd)
  }
  if (at !== end) return undefined
  into.length += 1
  return end
}

/** The values of a column, each after its length. */
const scratch = new Uint8Array(CLICK_DIMENSIONS.length * (1 + VALUE_LENGTH_MAX))

function decodeCapped(
  bytes: Uint8Array,
  view: DataView,
  start: number,
  into: ClickColumns,
): number | undefined {
  const end = start + COUNT_RECORD_BYTES
  if (end > bytes.length) return undefined
  const index = into.next()
  const count = view.getUint32(start + COUNT_AT, true)
  const flags = view.getUint16(start + 2, true)
  if (count === 0 || flags !== CLICK_FLAGS.capped || !decodeNumbers(view, start, into, index)) {
    return undefined
  }
  into.visitor[index] = UNKNOWN_VISITOR
  into.count[index] = count
  for (const [column, { dimensions }] of VALUE_COLUMNS.entries()) {
    into.setValues(column, index, NO_TEXTS, dimensions)
  }
  into.length += 1
  return end
}

const NO_TEXTS = new Uint8Array(CLICK_DIMENSIONS.length)

/** Decodes what both kinds of records have. */
function decodeNumbers(view: DataView, start: number, into: ClickColumns, index: number): boolean {
  const at = view.getFloat64(start + 4, true)
  const linkSeq = view.getFloat64(start + 12, true)
  into.flags[index] = view.getUint16(start + 2, true)
  into.at[index] = at
  into.link_seq[index] = linkSeq
  return isCount(at) && isCount(linkSeq)
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
