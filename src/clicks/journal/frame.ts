import { crc32 } from 'node:zlib'
import { CLICK_FLAGS, type Click } from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import { addCapped, decodeRecord, encodeCapped, encodeRecord, RECORD_BYTES_MAX } from './record.ts'

/**
 * A frame holds the clicks of one write:
 *
 *     magic     4 bytes  "TRS3"
 *     length    4 bytes  of the records, little-endian
 *     checksum  4 bytes  CRC-32 of the magic, the length and the records
 *     records   one after the other
 *
 * A partial write of a crashed process fails the checksum and does not affect other frames. Frames with
 * "TRS2" are read too: they have no records of capped clicks, and their checksum does not cover the magic.
 */
const MAGIC = Buffer.from('TRS3', 'latin1')
const MAGIC_PREFIX = Buffer.from('TRS', 'latin1')
const VERSION_AT = MAGIC_PREFIX.length
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

  constructor() {
    MAGIC.copy(this.#bytes)
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
    else this.#end = encodeRecord(this.#bytes, this.#view, this.#end, click)
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
    this.#view.setUint32(4, this.#end - HEADER_BYTES, true)
    this.#view.setUint32(CHECKSUM_AT, checksum(frame), true)
    this.#end = HEADER_BYTES
    this.#count = 0
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
  if (version !== VERSION && version !== VERSION_BEFORE) return undefined
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
  const from = frame[VERSION_AT] === VERSION_BEFORE ? MAGIC.length : 0
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(from, CHECKSUM_AT)))
}
