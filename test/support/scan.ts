import assert from 'node:assert/strict'
import jsqr from 'jsqr'
import { PNG } from 'pngjs'

const FINDER_MODULES = 7
const WHITE = 0xffffff

/** Bits 14 and 13 of the format information, unmasked (ISO/IEC 18004, table 12). */
const ERROR_LEVELS: Readonly<Record<string, string>> = {
  '01': 'L',
  '00': 'M',
  '11': 'Q',
  '10': 'H',
}

export type ScannedCode = {
  /** The decoded text, with every possible error correction. */
  readonly text: string
  /** The colours in the picture, as `#rrggbb`, the most frequent first. */
  readonly colors: readonly string[]
  /** Empty modules left, above, right and below. */
  readonly quietZone: readonly [number, number, number, number]
  readonly errorLevel: string
  /** Pixels per side. */
  readonly side: number
}

/** RGBA, 8 bits each. */
type Image = { readonly data: Buffer; readonly width: number; readonly height: number }

/** Reads a QR code, a PNG or an SVG, with a decoder that shares no code with the encoder. */
export function scan(picture: Buffer): ScannedCode {
  const image =
    picture.subarray(0, 4).toString() === '<svg' ? paint(picture) : PNG.sync.read(picture)
  const decoded = jsqr.default(new Uint8ClampedArray(image.data), image.width, image.height)
  assert.ok(decoded, 'the picture cannot be scanned')
  const isDark = (x: number, y: number) =>
    image.data.readUIntBE((Math.floor(y) * image.width + Math.floor(x)) * 4, 3) !== WHITE
  const box = darkBox(image, isDark)
  const modulePixels = firstRunLength(box, isDark) / FINDER_MODULES
  const isDarkModule = (column: number, row: number) =>
    isDark(box.left + (column + 0.5) * modulePixels, box.top + (row + 0.5) * modulePixels)
  // The mask of the format information begins with the bits 1 and 0.
  const level = [isDarkModule(0, 8) ? 0 : 1, isDarkModule(1, 8) ? 1 : 0].join('')
  return {
    text: decoded.data,
    colors: colorsOf(image),
    quietZone: [
      box.left / modulePixels,
      box.top / modulePixels,
      (image.width - 1 - box.right) / modulePixels,
      (image.height - 1 - box.bottom) / modulePixels,
    ],
    errorLevel: ERROR_LEVELS[level] ?? level,
    side: image.width,
  }
}

const SVG =
  /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="(\d+)" height="\1" viewBox="0 0 \1 \1" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h\1v\1h-\1z"\/><path fill="(#[0-9a-f]{6})" transform="translate\((\d+) \3\) scale\((\d+)\)" d="([^"]+)"\/>(?:<image x="(\d+)" y="\6" width="(\d+)" height="\7" href="data:image\/png;base64,([^"]+)"\/>)?<\/svg>\n$/

/** Renders an SVG of a white square and a path of rectangles, each one module high. */
function paint(svg: Buffer): Image {
  const match = SVG.exec(String(svg)) ?? []
  const [, side = '', color = '', start = '', scale = '', path = '', corner, logoSide, logo] = match
  assert.ok(path, 'the SVG has another form')
  const width = Number(side)
  const data = Buffer.alloc(width * width * 4, 255)
  const pixel = Buffer.from(`${color.slice(1)}ff`, 'hex')
  for (const [whole, x, y, length, back] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-(\d+)z/g)) {
    assert.equal(length, back, whole)
    const left = Number(start) + Number(x) * Number(scale)
    const top = Number(start) + Number(y) * Number(scale)
    for (let row = top; row < top + Number(scale); row += 1) {
      const at = (row * width + left) * 4
      data.fill(pixel, at, at + Number(length) * Number(scale) * 4)
    }
  }
  if (logo !== undefined) paintLogo(data, width, Number(corner), Number(logoSide), logo)
  return { data, width, height: width }
}

/** Paints a square opaque picture, each pixel the nearest of the picture. */
function paintLogo(data: Buffer, width: number, corner: number, side: number, base64: string) {
  const logo = PNG.sync.read(Buffer.from(base64, 'base64'))
  assert.equal(logo.width, logo.height)
  const scale = logo.width / side
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const from = (Math.floor(y * scale) * logo.width + Math.floor(x * scale)) * 4
      logo.data.copy(data, ((corner + y) * width + corner + x) * 4, from, from + 4)
    }
  }
}

type Box = { left: number; top: number; right: number; bottom: number }

/** The smallest rectangle around everything that is not white. */
function darkBox(image: Image, isDark: (x: number, y: number) => boolean): Box {
  const box = { left: image.width, top: image.height, right: -1, bottom: -1 }
  for (let y = 0; y < image.height; y += 1) {
    for (let x = 0; x < image.width; x += 1) {
      if (!isDark(x, y)) continue
      box.left = Math.min(box.left, x)
      box.right = Math.max(box.right, x)
      box.top = Math.min(box.top, y)
      box.bottom = Math.max(box.bottom, y)
    }
  }
  return box
}

/** The width of the upper left finder pattern in pixels: the code's first row begins with it. */
function firstRunLength({ left, top }: Box, isDark: (x: number, y: number) => boolean): number {
  let length = 0
  while (isDark(left + length, top)) length += 1
  return length
}

function colorsOf({ data }: Image): string[] {
  const counts = new Map<number, number>()
  for (let at = 0; at < data.length; at += 4) {
    const color = data.readUIntBE(at, 3)
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([color]) => `#${color.toString(16).padStart(6, '0')}`)
}
