import { crc32 } from 'node:zlib'
import type { Click } from '../../domain/clicks/click.ts'

/**
 * A frame holds the clicks of one write:
 *
 *     magic     4 bytes  "TRS1"
 *     length    4 bytes  of the records, little-endian
 *     checksum  4 bytes  CRC-32 of the length and the records
 *     records   18 bytes each: instant (double, microseconds), link (double), flags (16 bits)
 *
 * A write that a killed process left unfinished fails the checksum, and takes no other frame with it.
 */
const MAGIC = Buffer.from('TRS1', 'latin1')
const HEADER_BYTES = 12
const RECORD_BYTES = 18

/** No writer makes longer ones, so a longer length is damage. */
const FRAME_RECORDS_MAX = 50_000

export const FRAME_BYTES_MAX = HEADER_BYTES + FRAME_RECORDS_MAX * RECORD_BYTES

export function encodeFrame(clicks: readonly Click[]): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + clicks.length * RECORD_BYTES)
  MAGIC.copy(frame)
  frame.writeUInt32LE(clicks.length * RECORD_BYTES, 4)
  let at = HEADER_BYTES
  for (const click of clicks) {
    frame.writeDoubleLE(click.at, at)
    frame.writeDoubleLE(click.link_seq, at + 8)
    frame.writeUInt16LE(click.flags, at + 16)
    at += RECORD_BYTES
  }
  frame.writeUInt32LE(checksum(frame), 8)
  return frame
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
    const start = nextFrame(bytes, consumed)
    if (start === undefined) break
    damaged += start - consumed
    const end = start + HEADER_BYTES + bytes.readUInt32LE(start + 4)
    for (let at = start + HEADER_BYTES; at < end; at += RECORD_BYTES) {
      clicks.push({
        at: bytes.readDoubleLE(at),
        link_seq: bytes.readDoubleLE(at + 8),
        flags: bytes.readUInt16LE(at + 16),
      })
    }
    consumed = end
  }
  return { clicks, consumed, damaged }
}

/** Where the first whole frame at or after `from` begins. */
function nextFrame(bytes: Buffer, from: number): number | undefined {
  for (
    let start = bytes.indexOf(MAGIC, from);
    start !== -1;
    start = bytes.indexOf(MAGIC, start + 1)
  ) {
    if (isWhole(bytes, start)) return start
  }
  return undefined
}

function isWhole(bytes: Buffer, start: number): boolean {
  if (start + HEADER_BYTES > bytes.length) return false
  const length = bytes.readUInt32LE(start + 4)
  if (length % RECORD_BYTES !== 0 || length > FRAME_RECORDS_MAX * RECORD_BYTES) return false
  const end = start + HEADER_BYTES + length
  if (end > bytes.length) return false
  return checksum(bytes.subarray(start, end)) === bytes.readUInt32LE(start + 8)
}

function checksum(frame: Buffer): number {
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(4, 8)))
}
