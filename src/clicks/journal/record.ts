import { crc32 } from 'node:zlib'
import {
  CLICK_DIMENSIONS,
  CLICK_FLAGS,
  type Click,
  LABEL_INDEX,
  type RuleValues,
  UNKNOWN_VISITOR,
  UNPLACED_COUNT,
  VISITOR_DIMENSIONS,
} from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import { minuteOf } from '../tally/click-day.ts'

/**
 * A frame holds the clicks of one write:
 *
 *     magic     4 bytes  "TRS6" if any of the clicks has a region or a city, else "TRS5" if any has a label, else "TRS4"
 *                        if any has a rule or took one of a limit, else "TRS3"
 *     length    4 bytes  of the records, little-endian
 *     checksum  4 bytes  CRC-32 of the magic, the length and the records
 *     records   one after the other
 *
 * A partial write of a crashed process fails the checksum and does not affect other frames. Frames with
 * "TRS2" are read too: they have no records of capped clicks, and their checksum does not cover the magic.
 */
const MAGIC_PREFIX = Buffer.from('TRS', 'latin1')
const VERSION_AT = MAGIC_PREFIX.length
const MAGIC_BYTES = VERSION_AT + 1
const VERSION_OF_PLACES = '6'.charCodeAt(0)
const VERSION_OF_LABELS = '5'.charCodeAt(0)
const VERSION_OF_RULES = '4'.charCodeAt(0)
const VERSION = '3'.charCodeAt(0)
const VERSION_BEFORE = '2'.charCodeAt(0)
const CHECKSUM_AT = 8
const HEADER_BYTES = 12

/** The writer's limit, so a greater length is damage. Holds about 3,000 average clicks. */
export const FRAME_BYTES_MAX = 256 * 1024

/** Builds frames, one after the other, in memory that it reuses. */
export class FrameBuilder {
  readonly #bytes = Buffer.allocUnsafeSlow(FRAME_BYTES_MAX)
  readonly #view = new DataView(this.#bytes.buffer)
  /** The offset of the record of each link's capped clicks. */
  readonly #cappedAt = new Map<number, number>()
  #end = HEADER_BYTES
  #count = 0
  #version = VERSION

  constructor() {
    MAGIC_PREFIX.copy(this.#bytes)
  }

  /** The clicks in the frame. */
  get count(): number {
    return this.#count
  }

  /** Whether another click might not fit. */
  get isFull(): boolean {
    return this.#end + RECORD_BYTES_MAX > FRAME_BYTES_MAX
  }

  add(click: Click): void {
    if (click.flags === CLICK_FLAGS.capped) this.#addCapped(click)
    else {
      this.#end = encodeRecord(this.#bytes, this.#view, this.#end, click)
      this.#version = Math.max(this.#version, versionFor(click))
    }
    this.#count += click.count
  }

  #addCapped(click: Click): void {
    const at = this.#cappedAt.get(click.link_seq)
    if (at !== undefined && addCapped(this.#view, at, click)) return
    this.#cappedAt.set(click.link_seq, this.#end)
    this.#end = encodeCapped(this.#view, this.#end, click)
  }

  /** Returns the frame and starts a new one. The next `add` overwrites the returned bytes. */
  finish(): Buffer {
    const frame = this.#bytes.subarray(0, this.#end)
    frame[VERSION_AT] = this.#version
    this.#view.setUint32(4, this.#end - HEADER_BYTES, true)
    this.#view.setUint32(CHECKSUM_AT, checksum(frame), true)
    this.#end = HEADER_BYTES
    this.#count = 0
    this.#version = VERSION
    if (this.#cappedAt.size > 0) this.#cappedAt.clear()
    return frame
  }
}

export type DecodedBytes = {
  /** Bytes that were processed: complete frames, and damage before a complete frame. */
  readonly consumed: number
  /** How many of these bytes belong to no valid frame. */
  readonly damaged: number
}

/**
 * Decodes all complete frames. Damaged bytes are skipped up to the next complete frame. Bytes after the last
 * complete frame are not consumed, because they may be a frame that is still being written.
 *
 * @param clicksMax stops after the frame with which `into` reaches this count
 */
export function decodeFrames(bytes: Buffer, clicksMax: number, into: ClickColumns): DecodedBytes {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let consumed = 0
  let damaged = 0
  let start = bytes.indexOf(MAGIC_PREFIX)
  while (start !== -1 && into.length < clicksMax) {
    const end = decodeFrame(bytes, view, start, into)
    if (end !== undefined) {
      damaged += start - consumed
      consumed = end
    }
    start = bytes.indexOf(MAGIC_PREFIX, end ?? start + 1)
  }
  return { consumed, damaged }
}

/** Returns the end of a frame; undefined if there is none at `start`, and then adds nothing. */
function decodeFrame(
  bytes: Buffer,
  view: DataView,
  start: number,
  into: ClickColumns,
): number | undefined {
  if (start + HEADER_BYTES > bytes.length) return undefined
  const version = bytes[start + VERSION_AT]
  if (version === undefined || version < VERSION_BEFORE || version > VERSION_OF_PLACES) {
    return undefined
  }
  const end = start + HEADER_BYTES + view.getUint32(start + 4, true)
  if (end - start > FRAME_BYTES_MAX || end > bytes.length) return undefined
  if (checksum(bytes.subarray(start, end)) !== view.getUint32(start + CHECKSUM_AT, true)) {
    return undefined
  }
  const known = into.length
  for (let at = start + HEADER_BYTES; at < end; ) {
    const next = decodeRecord(bytes, view, at, into)
    if (next === undefined || next > end) {
      into.length = known
      return undefined
    }
    at = next
  }
  return into.length > known ? end : undefined
}

function checksum(frame: Buffer): number {
  const from = frame[VERSION_AT] === VERSION_BEFORE ? MAGIC_BYTES : 0
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(from, CHECKSUM_AT)))
}

/**
 * The journal record of a click; numbers are little-endian:
 *
 *     length    2 bytes  of the whole record
 *     flags     2 bytes  with `LIMITED` for a click that took one of its link's limit
 *     instant   8 bytes  double, microseconds
 *     link      8 bytes  double
 *     visitor   8 bytes  double
 *     lengths   1 byte   for each of VISITOR_DIMENSIONS
 *     values    of VISITOR_DIMENSIONS in their order, printable ASCII
 *
 * If a rule of the link decided, or the click has a label or a place, recognized by the length of the record:
 *
 *     lengths   1 byte   of the rule, and of the variant
 *     values    the rule and the variant, UTF-8
 *
 * If the click has a label or a place, recognized in the same way:
 *
 *     length    1 byte
 *     value     the label, UTF-8
 *
 * If the click has a place, recognized in the same way:
 *
 *     lengths   1 byte   of the region, and of the city
 *     values    the region and the city, UTF-8
 *
 * Capped clicks of one link and minute share one record, recognized by its length:
 *
 *     length    2 bytes  24
 *     flags     2 bytes
 *     instant   8 bytes  double, microseconds, of the first
 *     link      8 bytes  double
 *     count     4 bytes
 */
const LIMITED = 0x8000
const COUNT_AT = 20
const COUNT_RECORD_BYTES = 24
const COUNT_MAX = 0xffff_ffff
const LENGTHS_AT = 28
const VALUES_AT = LENGTHS_AT + VISITOR_DIMENSIONS.length
const RULE = VISITOR_DIMENSIONS.length
const REGION = UNPLACED_COUNT
/** The lengths of two texts. */
const PAIR_LENGTHS_BYTES = 2
const LABEL_LENGTH_BYTES = 1
const VALUE_LENGTH_MAX = 255
const FIRST_PRINTABLE = 0x20
const LAST_PRINTABLE = 0x7e
const UNPRINTABLE = '?'.charCodeAt(0)

export const RECORD_BYTES_MAX =
  VALUES_AT +
  2 * PAIR_LENGTHS_BYTES +
  LABEL_LENGTH_BYTES +
  CLICK_DIMENSIONS.length * VALUE_LENGTH_MAX

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
  view.setUint16(start + 2, click.isLimited === true ? click.flags | LIMITED : click.flags, true)
  view.setFloat64(start + 4, click.at, true)
  view.setFloat64(start + 12, click.link_seq, true)
  view.setFloat64(start + 20, click.visitor, true)
  let lengthAt = start + LENGTHS_AT
  let end = start + VALUES_AT
  for (const dimension of VISITOR_DIMENSIONS) {
    const length = encodeValue(bytes, end, click[dimension])
    bytes[lengthAt] = length
    lengthAt += 1
    end += length
  }
  const { label } = click
  const isPlaced = hasPlace(click)
  const isLabelled = label !== '' || isPlaced
  if (isLabelled || hasRule(click)) end = encodePair(bytes, end, click.rule, click.variant)
  if (isLabelled) end = encodeLabel(bytes, end, label)
  if (isPlaced) end = encodePair(bytes, end, click.region, click.city)
  view.setUint16(start, end - start, true)
  return end
}

/** Returns the version that frames with the record of a click have at least. */
function versionFor(click: Click): number {
  if (hasPlace(click)) return VERSION_OF_PLACES
  if (click.label !== '') return VERSION_OF_LABELS
  return hasRule(click) || click.isLimited === true ? VERSION_OF_RULES : VERSION
}

function hasRule({ rule, variant }: RuleValues): boolean {
  return rule !== '' || variant !== ''
}

function hasPlace({ region, city }: Pick<Click, 'region' | 'city'>): boolean {
  return city !== '' || region !== ''
}

/** Returns the end of the values. */
function encodePair(bytes: Uint8Array, start: number, first: string, second: string): number {
  const firstAt = start + PAIR_LENGTHS_BYTES
  const secondAt = firstAt + encodeText(bytes, firstAt, first)
  const end = secondAt + encodeText(bytes, secondAt, second)
  bytes[start] = secondAt - firstAt
  bytes[start + 1] = end - secondAt
  return end
}

/** Returns the end of the value. */
function encodeLabel(bytes: Uint8Array, start: number, label: string): number {
  const length = encodeText(bytes, start + LABEL_LENGTH_BYTES, label)
  bytes[start] = length
  return start + LABEL_LENGTH_BYTES + length
}

const UTF_8 = new TextEncoder()

function encodeText(bytes: Uint8Array, start: number, text: string): number {
  return UTF_8.encodeInto(text, bytes.subarray(start, start + VALUE_LENGTH_MAX)).written
}

/**
 * Encodes a capped click. At least `RECORD_BYTES_MAX` bytes must be free.
 *
 * @returns the end of the record
 */
function encodeCapped(view: DataView, start: number, click: Click): number {
  view.setUint16(start, COUNT_RECORD_BYTES, true)
  view.setUint16(start + 2, click.flags, true)
  view.setFloat64(start + 4, click.at, true)
  view.setFloat64(start + 12, click.link_seq, true)
  view.setUint32(start + COUNT_AT, click.count, true)
  return start + COUNT_RECORD_BYTES
}

/** Adds a click of the same link to a record of `encodeCapped`. False if its minute differs. */
function addCapped(view: DataView, start: number, click: Click): boolean {
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
  into.flags[index] = flags & ~LIMITED
  into.limited[index] = flags & LIMITED ? 1 : 0
  into.at[index] = instant
  into.link_seq[index] = linkSeq
  into.visitor[index] = visitor
  into.count[index] = count
  let at = isCapped ? end : start + VALUES_AT
  for (let dimension = 0; dimension < VISITOR_DIMENSIONS.length; dimension += 1) {
    const valueEnd = isCapped ? at : at + (bytes[start + LENGTHS_AT + dimension] ?? 0)
    if (valueEnd > end || !isPrintable(bytes, at, valueEnd)) return undefined
    into.setValue(dimension, index, bytes, at, valueEnd)
    at = valueEnd
  }
  if (at === end) into.setNone(index)
  else if (!decodeSparse(bytes, at, end, index, into)) return undefined
  into.length += 1
  return end
}

/** Returns whether the bytes up to `end` are a rule and a variant, then a label or nothing, then a place or nothing. */
function decodeSparse(
  bytes: Uint8Array,
  start: number,
  end: number,
  index: number,
  into: ClickColumns,
): boolean {
  const ruleEnd = decodePair(bytes, start, end, { index, into, first: RULE })
  if (ruleEnd === undefined) return false
  if (ruleEnd === end) {
    into.setNone(index, LABEL_INDEX)
    return true
  }
  const labelAt = ruleEnd + LABEL_LENGTH_BYTES
  const labelEnd = labelAt + (bytes[ruleEnd] ?? 0)
  if (labelEnd > end) return false
  into.setValue(LABEL_INDEX, index, bytes, labelAt, labelEnd)
  if (labelEnd === end) {
    into.setNone(index, REGION)
    return true
  }
  return decodePair(bytes, labelEnd, end, { index, into, first: REGION }) === end
}

/**
 * @param to.first the dimension of the first of the two texts; the second one's follows
 * @returns the end of the texts; undefined where they are not before `end`
 */
function decodePair(
  bytes: Uint8Array,
  start: number,
  end: number,
  to: { readonly index: number; readonly into: ClickColumns; readonly first: number },
): number | undefined {
  const firstAt = start + PAIR_LENGTHS_BYTES
  if (firstAt > end) return undefined
  const secondAt = firstAt + (bytes[start] ?? 0)
  const secondEnd = secondAt + (bytes[start + 1] ?? 0)
  if (secondEnd > end) return undefined
  to.into.setValue(to.first, to.index, bytes, firstAt, secondAt)
  to.into.setValue(to.first + 1, to.index, bytes, secondAt, secondEnd)
  return secondEnd
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
