import { crc32, deflateSync } from 'node:zlib'
import type { Color } from '@terse/contract/module-color'

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** Filter types of a row (PNG specification, section 9.2). */
const ROW_FILTERS = { none: 0, up: 2 } as const

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(content.length + 8)
  framed.writeUInt32BE(data.length, 0)
  content.copy(framed, 4)
  framed.writeUInt32BE(crc32(content), content.length + 4)
  return framed
}

/** Equal rows of pixels: one bit per pixel, the leftmost in the highest bit; 1 is dark. */
export type PixelRows = { readonly bits: Buffer; readonly count: number }

const PALETTE_COLOR = 3

/**
 * Encodes a square PNG with a palette of white and one dark colour, one bit per pixel. It takes a
 * twenty-fourth of the memory of true colour, and far less time to compress.
 */
export function encodeTwoColorPng(side: number, rows: readonly PixelRows[], dark: Color): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([1, PALETTE_COLOR, 0, 0, 0], 8)
  const palette = Buffer.from([255, 255, 255, dark.red, dark.green, dark.blue])
  return Buffer.concat([
    PNG_SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(filteredRows(side, rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Returns the filtered rows; a row that equals the one above becomes all zeros. */
function filteredRows(side: number, rows: readonly PixelRows[]): Buffer {
  const rowBytes = 1 + Math.ceil(side / 8)
  const filtered = Buffer.alloc(rowBytes * side)
  let at = 0
  for (const { bits, count } of rows) {
    filtered[at] = ROW_FILTERS.none
    bits.copy(filtered, at + 1)
    for (let nth = 1; nth < count; nth += 1) filtered[at + nth * rowBytes] = ROW_FILTERS.up
    at += count * rowBytes
  }
  return filtered
}

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
