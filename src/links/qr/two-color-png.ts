import { deflateSync } from 'node:zlib'
import type { Color } from '@terse/contract/module-color'
import { chunk, PNG_SIGNATURE, ROW_FILTERS } from './png-chunks.ts'

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
