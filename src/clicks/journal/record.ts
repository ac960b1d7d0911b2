import { CLICK_DIMENSIONS, type Click } from '../../domain/clicks/click.ts'

/**
 * A click as it is journalled:
 *
 *     length    2 bytes  of the whole record, little-endian as all numbers here
 *     flags     2 bytes
 *     instant   8 bytes  double, microseconds
 *     link      8 bytes  double
 *     visitor   8 bytes  double
 *     one for each of CLICK_DIMENSIONS, in its order:
 *       length  1 byte
 *       value   ASCII
 */
const FIXED_BYTES = 28
const VALUE_LENGTH_MAX = 255

export const RECORD_BYTES_MAX = FIXED_BYTES + CLICK_DIMENSIONS.length * (1 + VALUE_LENGTH_MAX)

/** @returns where the record ends */
export function encodeRecord(bytes: Buffer, at: number, click: Click): number {
  bytes.writeUInt16LE(click.flags, at + 2)
  bytes.writeDoubleLE(click.at, at + 4)
  bytes.writeDoubleLE(click.link_seq, at + 12)
  bytes.writeDoubleLE(click.visitor, at + 20)
  let end = at + FIXED_BYTES
  for (const dimension of CLICK_DIMENSIONS) {
    const length = bytes.write(click[dimension], end + 1, VALUE_LENGTH_MAX, 'latin1')
    bytes[end] = length
    end += 1 + length
  }
  bytes.writeUInt16LE(end - at, at)
  return end
}

/** Undefined for what `encodeRecord` cannot have written. */
export function decodeRecord(bytes: Buffer, at: number): { click: Click; end: number } | undefined {
  if (at + FIXED_BYTES > bytes.length) return undefined
  const end = at + bytes.readUInt16LE(at)
  if (end > bytes.length) return undefined
  const numbers = {
    at: bytes.readDoubleLE(at + 4),
    link_seq: bytes.readDoubleLE(at + 12),
    flags: bytes.readUInt16LE(at + 2),
    visitor: bytes.readDoubleLE(at + 20),
  }
  const values: string[] = []
  let valueAt = at + FIXED_BYTES
  for (const _ of CLICK_DIMENSIONS) {
    if (valueAt >= end) return undefined
    const valueEnd = valueAt + 1 + (bytes[valueAt] ?? 0)
    if (valueEnd > end) return undefined
    values.push(bytes.toString('latin1', valueAt + 1, valueEnd))
    valueAt = valueEnd
  }
  if (valueAt !== end) return undefined
  const [
    country = '',
    device = '',
    os = '',
    browser = '',
    referrer = '',
    language = '',
    source = '',
  ] = values
  return {
    click: { ...numbers, country, device, os, browser, referrer, language, source },
    end,
  }
}
