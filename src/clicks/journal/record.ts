import { CLICK_DIMENSIONS, CLICK_FLAGS, type Click, cappedClick } from '../click.ts'
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
const PRINTABLE = /^[ -~]*$/

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

type DecodedRecord = { readonly click: Click; readonly end: number }

/** Decodes the click whose record begins at `start`; undefined for an invalid record. */
export function decodeRecord(bytes: Buffer, start: number): DecodedRecord | undefined {
  if (start + 2 > bytes.length) return undefined
  if (bytes.readUInt16LE(start) === COUNT_RECORD_BYTES) return decodeCapped(bytes, start)
  if (start + VALUES_AT > bytes.length) return undefined
  const end = start + bytes.readUInt16LE(start)
  let valuesLength = 0
  for (let at = start + LENGTHS_AT; at < start + VALUES_AT; at += 1) valuesLength += bytes[at] ?? 0
  if (end !== start + VALUES_AT + valuesLength || end > bytes.length) return undefined
  const numbers = {
    at: bytes.readDoubleLE(start + 4),
    link_seq: bytes.readDoubleLE(start + 12),
    flags: bytes.readUInt16LE(start + 2),
    count: 1,
    visitor: bytes.readDoubleLE(start + 20),
  }
  if (!isCount(numbers.at) || !isCount(numbers.link_seq) || !isCount(numbers.visitor)) {
    return undefined
  }
  const values = bytes.toString('latin1', start + VALUES_AT, end)
  if (!PRINTABLE.test(values)) return undefined
  let valueEnd = 0
  let lengthAt = start + LENGTHS_AT
  function nextValue(): string {
    const valueStart = valueEnd
    valueEnd += bytes[lengthAt] ?? 0
    lengthAt += 1
    return values.slice(valueStart, valueEnd)
  }
  // Properties are evaluated in this order, which must be the order of CLICK_DIMENSIONS.
  const click: Click = {
    ...numbers,
    country: nextValue(),
    device: nextValue(),
    os: nextValue(),
    browser: nextValue(),
    referrer: nextValue(),
    language: nextValue(),
    source: nextValue(),
  }
  return { click, end }
}

function decodeCapped(bytes: Buffer, start: number): DecodedRecord | undefined {
  const end = start + COUNT_RECORD_BYTES
  if (end > bytes.length) return undefined
  const at = bytes.readDoubleLE(start + 4)
  const link_seq = bytes.readDoubleLE(start + 12)
  const count = bytes.readUInt32LE(start + COUNT_AT)
  const flags = bytes.readUInt16LE(start + 2)
  if (!isCount(at) || !isCount(link_seq) || count === 0 || flags !== CLICK_FLAGS.capped) {
    return undefined
  }
  return { click: cappedClick(link_seq, at, count), end }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
