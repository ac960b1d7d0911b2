import { PNG } from 'pngjs'
import encodeQR from 'qr'
import type { Color } from './color.ts'

/** Quiet zone that ISO/IEC 18004 asks for on each side, in modules. */
const QUIET_ZONE_MODULES = 4
/** Pixels of a module: as many as make the picture about so wide, within bounds that scan well. */
const PICTURE_PIXELS = 480
const MODULE_PIXELS_MIN = 4
const MODULE_PIXELS_MAX = 12

/**
 * Each row of pixels is written as its difference from the one above, nearly always none: a quarter
 * of the time that pngjs takes to try all filters, which is time that the event loop stands still.
 */
const PNG_OPTIONS = { colorType: 2, filterType: 2, deflateStrategy: 0, deflateLevel: 6 } as const

/**
 * A QR code as a PNG: error correction level M, the standard's quiet zone, dark on white.
 *
 * @throws where the text is longer than the largest code can hold (2,331 bytes)
 */
export function renderQrCode(text: string, color: Color): Buffer {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE_MODULES })
  const wanted = Math.floor(PICTURE_PIXELS / modules.length)
  const scale = Math.min(MODULE_PIXELS_MAX, Math.max(MODULE_PIXELS_MIN, wanted))
  const size = modules.length * scale
  const image = new PNG({ width: size, height: size, colorType: 2 })
  image.data.fill(255)
  for (const [row, cells] of modules.entries()) {
    for (const [column, dark] of cells.entries()) {
      if (dark) fillSquare(image, column * scale, row * scale, scale, color)
    }
  }
  return PNG.sync.write(image, { ...PNG_OPTIONS, inputHasAlpha: true })
}

function fillSquare(image: PNG, left: number, top: number, side: number, color: Color): void {
  for (let y = top; y < top + side; y += 1) {
    for (let x = left; x < left + side; x += 1) {
      const at = (y * image.width + x) * 4
      image.data[at] = color.red
      image.data[at + 1] = color.green
      image.data[at + 2] = color.blue
    }
  }
}
