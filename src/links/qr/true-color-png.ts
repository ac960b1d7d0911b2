import { deflateSync } from 'node:zlib'
import { chunk, PNG_SIGNATURE, ROW_FILTERS } from './png-chunks.ts'

const TRUE_COLOR = 2
const BITS = 8

/** Encodes a square PNG. Rows that equal the one above become zeros, which compress quickly. */
export function encodeTrueColorPng(side: number, rgb: Buffer): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([BITS, TRUE_COLOR, 0, 0, 0], 8)
  const width = side * 3
  const filtered = Buffer.alloc((1 + width) * side)
  for (let y = 0; y < side; y += 1) {
    const at = y * (1 + width)
    const isRepeated =
      y > 0 && rgb.compare(rgb, (y - 1) * width, y * width, y * width, (y + 1) * width) === 0
    filtered[at] = isRepeated ? ROW_FILTERS.up : ROW_FILTERS.none
    if (!isRepeated) rgb.copy(filtered, at + 1, y * width, (y + 1) * width)
  }
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(filtered)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
