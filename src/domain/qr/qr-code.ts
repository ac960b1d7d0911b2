import { PNG } from 'pngjs'
import encodeQR from 'qr'
import type { Color } from './color.ts'

/** Quiet zone that ISO/IEC 18004 asks for on each side, in modules. */
const QUIET_ZONE_MODULES = 4
const MODULE_PIXELS = 12

/**
 * A QR code as a PNG: error correction level M, the standard's quiet zone, dark on white.
 *
 * @throws where the text is longer than the largest code can hold (2,331 bytes)
 */
export function renderQrCode(text: string, color: Color): Buffer {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', border: QUIET_ZONE_MODULES })
  const size = modules.length * MODULE_PIXELS
  const image = new PNG({ width: size, height: size, colorType: 2 })
  image.data.fill(255)
  for (const [row, cells] of modules.entries()) {
    for (const [column, dark] of cells.entries()) {
      if (dark) fillModule(image, row, column, color)
    }
  }
  return PNG.sync.write(image, { colorType: 2, inputHasAlpha: true })
}

function fillModule(image: PNG, row: number, column: number, color: Color): void {
  for (let y = row * MODULE_PIXELS; y < (row + 1) * MODULE_PIXELS; y += 1) {
    for (let x = column * MODULE_PIXELS; x < (column + 1) * MODULE_PIXELS; x += 1) {
      const at = (y * image.width + x) * 4
      image.data[at] = color.red
      image.data[at + 1] = color.green
      image.data[at + 2] = color.blue
    }
  }
}
