import { PNG } from 'pngjs'
import type { Parsed } from '../../platform/failure.ts'

/** Pixels of red, green and blue, 8 bits each, row by row. */
type Pixels = { readonly width: number; readonly height: number; readonly rgb: Buffer }

/** RGBA, 8 bits each. */
export type Bitmap = { readonly width: number; readonly height: number; readonly data: Buffer }

/**
 * Decodes a logo whose dimensions `parseLogo` has checked; undefined when it is damaged. The library inflates no
 * more than the pixels of these dimensions need.
 */
export function decodeLogo(png: Uint8Array): Bitmap | undefined {
  try {
    return PNG.sync.read(Buffer.from(png))
  } catch {
    return undefined
  }
}

/**
 * Scales a picture to fit into a square, and lays it on white in its middle. Each pixel is the mean of those that
 * it covers, so that fine lines stay visible.
 */
export function scaleOnWhite(bitmap: Bitmap, side: number): Pixels {
  const scale = side / Math.max(bitmap.width, bitmap.height)
  const width = Math.max(1, Math.round(bitmap.width * scale))
  const height = Math.max(1, Math.round(bitmap.height * scale))
  const [left, top] = [Math.floor((side - width) / 2), Math.floor((side - height) / 2)]
  const rgb = Buffer.alloc(side * side * 3, 255)
  for (let y = 0; y < height; y += 1) {
    const rows = covered(y, height, bitmap.height)
    for (let x = 0; x < width; x += 1) {
      const mean = meanOnWhite(bitmap, rows, covered(x, width, bitmap.width))
      rgb.set(mean, ((top + y) * side + left + x) * 3)
    }
  }
  return { width: side, height: side, rgb }
}

type Range = { readonly from: number; readonly to: number }

/** Which of `before` pixels the pixel `at` of `after` covers: at least one. */
function covered(at: number, after: number, before: number): Range {
  const from = Math.floor((at * before) / after)
  return { from, to: Math.max(from + 1, Math.floor(((at + 1) * before) / after)) }
}

function meanOnWhite({ width, data }: Bitmap, rows: Range, columns: Range): readonly number[] {
  const sums = [0, 0, 0]
  for (let y = rows.from; y < rows.to; y += 1) {
    for (let x = columns.from; x < columns.to; x += 1) {
      const at = (y * width + x) * 4
      const opacity = (data[at + 3] ?? 0) / 255
      for (const channel of [0, 1, 2]) {
        const value = data[at + channel] ?? 0
        sums[channel] = (sums[channel] ?? 0) + 255 + (value - 255) * opacity
      }
    }
  }
  const count = (rows.to - rows.from) * (columns.to - columns.from)
  return sums.map((sum) => Math.round(sum / count))
}

/** The most bytes of the PNG, not of its text in base64. */
const BYTES_MAX = 32 * 1024
const PIXELS_MAX = 512

const PREFIX = 'data:image/png;base64,'
const SIGNATURE = '89504e470d0a1a0a'
/** The bytes of a chunk besides its content: length, type and checksum. */
const CHUNK_BYTES = 12
/** The chunks that a picture is drawn from; others may hold what its owner does not mean to publish. */
const KEPT_CHUNKS: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'])

/**
 * Parses a logo, a data URL of a PNG, and returns the PNG without needless chunks. Only its dimensions are
 * checked: it may still be undecodable.
 */
export function parseLogo(text: string): Parsed<Uint8Array> {
  const bytes = text.startsWith(PREFIX) ? fromBase64(text.slice(PREFIX.length)) : undefined
  if (bytes === undefined)
    return { fault: { code: 'invalid_logo', reason: 'encoding', prefix: PREFIX } }
  if (bytes.length > BYTES_MAX)
    return { fault: { code: 'invalid_logo', reason: 'bytes', max: BYTES_MAX / 1024 } }
  const png = Buffer.from(bytes.buffer)
  const chunks = chunksOf(png)
  if (chunks === undefined) return { fault: { code: 'invalid_logo', reason: 'damaged' } }
  const header = png.subarray(16, 29)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  if (width === 0 || height === 0 || width > PIXELS_MAX || height > PIXELS_MAX) {
    return { fault: { code: 'invalid_logo', reason: 'pixels', max: PIXELS_MAX } }
  }
  if (header[12] !== 0) return { fault: { code: 'invalid_logo', reason: 'interlaced' } }
  // Copied: posting a view to a thread would send the whole buffer.
  return { value: new Uint8Array(Buffer.concat([png.subarray(0, 8), ...chunks])) }
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    return undefined
  }
}

/** Returns the chunks to keep; undefined unless the first, and no other, is a header. */
function chunksOf(png: Buffer): readonly Buffer[] | undefined {
  if (png.subarray(0, 8).toString('hex') !== SIGNATURE) return undefined
  const chunks: Buffer[] = []
  for (let at = 8; at + CHUNK_BYTES <= png.length; ) {
    const length = png.readUInt32BE(at)
    const type = png.toString('latin1', at + 4, at + 8)
    const end = at + CHUNK_BYTES + length
    const isHeader = type === 'IHDR'
    // A second header would change the dimensions that are checked.
    if (end > png.length || isHeader !== (at === 8) || (isHeader && length !== 13)) return undefined
    if (KEPT_CHUNKS.has(type)) chunks.push(png.subarray(at, end))
    if (type === 'IEND') return chunks
    at = end
  }
  return undefined
}
