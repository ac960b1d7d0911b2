import { crc32 } from 'node:zlib'
import { CLICK_FLAGS, type Click } from '../click.ts'
import { addCapped, decodeRecord, encodeCapped, encodeRecord, RECORD_BYTES_MAX } from './record.ts'

/**
 * A frame holds the clicks of one write:
 *
 *     magic     4 bytes  "TRS3"
 *     length    4 bytes  of the records, little-endian
 *     checksum  4 bytes  CRC-32 of the magic, the length and the records
 *     records   one after the other
 *
 * A write that a killed process left unfinished fails the checksum, and takes no other frame with it.
 * Frames of "TRS2" are read too: they have no records of clicks beyond the cap, and their checksum leaves
 * out the magic.
 */
const MAGIC = Buffer.from('TRS3', 'latin1')
const MAGIC_PREFIX = Buffer.from('TRS', 'latin1')
const VERSION_AT = MAGIC_PREFIX.length
const VERSION = '3'.charCodeAt(0)
const VERSION_BEFORE = '2'.charCodeAt(0)
const CHECKSUM_AT = 8
const HEADER_BYTES = 12

/** No writer makes longer ones, so a longer length is damage. Holds some 3,000 usual clicks. */
export const FRAME_BYTES_MAX = 256 * 1024

/** Collects clicks into a frame, in memory that is used for one frame after the other. */
export class FrameBuilder {
  readonly #bytes = Buffer.allocUnsafeSlow(FRAME_BYTES_MAX)
  readonly #view = new DataView(this.#bytes.buffer)
  /** Where the frame has the record of each link's clicks beyond the cap. */
  readonly #cappedAt = new Map<number, number>()
  #end = HEADER_BYTES
  #count = 0

  constructor() {
    MAGIC.copy(this.#bytes)
  }

  /** Clicks in the frame. */
  get count(): number {
    return this.#count
  }

  /** Whether there may be no room for one more. */
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

  /** The frame. It is overwritten by what is added next, which begins a new one. */
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

/** One frame with these clicks, which must fit. */
export function encodeFrame(clicks: readonly Click[]): Buffer {
  const builder = new FrameBuilder()
  for (const click of clicks) builder.add(click)
  return builder.finish()
}

export type DecodedFrames = {
  readonly clicks: Click[]
  /** Bytes that are done with: whole frames, and damage before a whole frame. */
  readonly consumed: number
  /** Bytes among them that belong to no valid frame. */
  readonly damaged: number
}

/**
 * The clicks of all whole frames. Damage is skipped up to the next whole frame; what follows the last
 * whole frame is left, because it may be one that is still being written.
 *
 * @param clicksMax after which to stop, at a frame's end
 */
export function decodeFrames(bytes: Buffer, clicksMax: number): DecodedFrames {
  const clicks: Click[] = []
  let consumed = 0
  let damaged = 0
  while (clicks.length < clicksMax) {
    const frame = nextFrame(bytes, consumed)
    if (frame === undefined) break
    damaged += frame.start - consumed
    for (const click of frame.clicks) clicks.push(click)
    consumed = frame.end
  }
  return { clicks, consumed, damaged }
}

type Frame = { readonly start: number; readonly end: number; readonly clicks: readonly Click[] }

/** The first whole frame at or after `from`. */
function nextFrame(bytes: Buffer, from: number): Frame | undefined {
  for (
    let start = bytes.indexOf(MAGIC_PREFIX, from);
    start !== -1;
    start = bytes.indexOf(MAGIC_PREFIX, start + 1)
  ) {
    const frame = decodeFrame(bytes, start)
    if (frame !== undefined) return frame
  }
  return undefined
}

function decodeFrame(bytes: Buffer, start: number): Frame | undefined {
  if (start + HEADER_BYTES > bytes.length) return undefined
  const version = bytes[start + VERSION_AT]
  if (version !== VERSION && version !== VERSION_BEFORE) return undefined
  const end = start + HEADER_BYTES + bytes.readUInt32LE(start + 4)
  if (end - start > FRAME_BYTES_MAX || end > bytes.length) return undefined
  const frame = bytes.subarray(start, end)
  if (checksum(frame) !== bytes.readUInt32LE(start + CHECKSUM_AT)) return undefined
  const clicks: Click[] = []
  for (let at = HEADER_BYTES; at < frame.length; ) {
    const record = decodeRecord(frame, at)
    if (record === undefined) return undefined
    clicks.push(record.click)
    at = record.end
  }
  return clicks.length > 0 ? { start, end, clicks } : undefined
}

function checksum(frame: Buffer): number {
  const from = frame[VERSION_AT] === VERSION_BEFORE ? MAGIC.length : 0
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(from, CHECKSUM_AT)))
}
