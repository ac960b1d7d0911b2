import { PNG } from 'pngjs'

/** Pixels of red, green and blue, 8 bits each, row by row. */
export type Pixels = { readonly width: number; readonly height: number; readonly rgb: Buffer }

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
