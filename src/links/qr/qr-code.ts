import { type Color, isScannable, parseColor } from '@terse/contract/module-color'
import encodeQR from 'qr'
import type { FieldFaults, Parsed } from '../../platform/failure.ts'
import { type Bitmap, decodeLogo, scaleOnWhite } from './logo.ts'
import { encodeTrueColorPng, encodeTwoColorPng, type PixelRows } from './png.ts'

export const BLACK: Color = { red: 0, green: 0, blue: 0 }

/** @param text `#RRGGBB` */
export function parseModuleColor(text: string): Parsed<Color> {
  const color = parseColor(text)
  if (color === undefined) return { fault: { code: 'invalid_color' } }
  if (isScannable(color)) return { value: color }
  return { fault: { code: 'too_pale' } }
}

/** Returns `#rrggbb`. */
export function formatColor({ red, green, blue }: Color): string {
  return `#${Buffer.from([red, green, blue]).toString('hex')}`
}

/** The quiet zone that ISO/IEC 18004 requires on each side, in modules. */
export const QR_MARGIN_DEFAULT = 4

export type QrFormat = 'png' | 'svg'

/** All parameters of a picture. */
export type QrTask = {
  readonly text: string
  readonly color: Color
  readonly format: QrFormat
  /** Width and height in pixels; undefined for a size that suits the code. */
  readonly size: number | undefined
  /** White modules around the code. */
  readonly margin: number
  /** Error correction, by the letters of ISO/IEC 18004, the weakest first. */
  readonly level: 'L' | 'M' | 'Q' | 'H'
  /** A PNG of checked dimensions. */
  readonly logo: Uint8Array | undefined
}

/** A picture, or the faults of the parameters by their names. */
export type QrRendering = { readonly picture: Uint8Array } | { readonly faults: FieldFaults }

const CORRECTION = { L: 'low', M: 'medium', Q: 'quartile', H: 'high' } as const

/** The approximate width of a picture without a requested size; the module's bounds take precedence. */
const PICTURE_PIXELS = 480
const MODULE_PIXELS_MIN = 4
const MODULE_PIXELS_MAX = 12
/** With less, decoders fail on some codes; with this, two decoders read every code that was tested. */
const MODULE_PIXELS_READABLE = 2

type Modules = readonly (readonly boolean[])[]

/** The position of the code in the picture, in pixels. */
type Layout = { readonly side: number; readonly modulePixels: number; readonly start: number }

/** The part of a code's width that a logo covers: a twenty-fifth of the area, far less than `Q` repairs. */
const LOGO_SHARE = 1 / 5

/** Draws a QR code, dark on white, or returns the parameter that prevents it. */
export function renderQrCode(task: QrTask): QrRendering {
  const { text, level, margin, size, format } = task
  const modules = encode(text, level)
  if (modules === undefined) {
    return { faults: { level: [{ code: 'level_too_high' }] } }
  }
  const layout = layOut(modules.length, margin, size)
  if ('sizeMin' in layout) {
    const { sizeMin } = layout
    return { faults: { size: [{ code: 'size_too_small', min: sizeMin }] } }
  }
  const draw = format === 'svg' ? drawSvg : drawPng
  const logo = task.logo && decodeLogo(task.logo)
  if (task.logo !== undefined && logo === undefined) {
    return { faults: { logo: [{ code: 'invalid_logo', reason: 'damaged' }] } }
  }
  const drawn = logo === undefined ? modules : withHole(modules, holeOf(modules.length))
  if (logo !== undefined && format === 'png') {
    return { picture: new Uint8Array(drawPngWithLogo(drawn, layout, task, logo)) }
  }
  // Copied: a small Buffer is a view of Node's shared pool, and posting it to a thread sends the pool.
  return { picture: new Uint8Array(draw(drawn, layout, task)) }
}

/** Returns the modules without margin, or undefined when the text exceeds the largest code. */
function encode(text: string, level: QrTask['level']): Modules | undefined {
  try {
    // The library requires a margin, which is removed here.
    const framed = encodeQR(text, 'raw', { ecc: CORRECTION[level], border: 1 })
    return framed.slice(1, -1).map((row) => row.slice(1, -1))
  } catch (error) {
    if (error instanceof Error && error.message === 'Capacity overflow') return undefined
    throw error
  }
}

/** Modules are whole pixels wide, so that edges are sharp; the remaining pixels widen the margin. */
function layOut(
  modules: number,
  margin: number,
  size: number | undefined,
): Layout | { readonly sizeMin: number } {
  const modulesWide = modules + 2 * margin
  if (size === undefined) {
    const fitting = Math.floor(PICTURE_PIXELS / modulesWide)
    const modulePixels = Math.min(MODULE_PIXELS_MAX, Math.max(MODULE_PIXELS_MIN, fitting))
    return { side: modulesWide * modulePixels, modulePixels, start: margin * modulePixels }
  }
  const modulePixels = Math.floor(size / modulesWide)
  if (modulePixels < MODULE_PIXELS_READABLE) {
    return { sizeMin: modulesWide * MODULE_PIXELS_READABLE }
  }
  return { side: size, modulePixels, start: Math.floor((size - modules * modulePixels) / 2) }
}

type Hole = { readonly from: number; readonly length: number }

/** The modules behind a logo, in each direction. The number is odd, as that of a code's modules is. */
function holeOf(modules: number): Hole {
  const most = Math.floor(modules * LOGO_SHARE)
  const length = most % 2 === 0 ? most - 1 : most
  return { from: (modules - length) / 2, length }
}

function withHole(modules: Modules, { from, length }: Hole): Modules {
  const isInside = (at: number) => at >= from && at < from + length
  return modules.map((row, y) => (isInside(y) ? row.map((dark, x) => dark && !isInside(x)) : row))
}

function drawPngWithLogo(
  modules: Modules,
  { side, modulePixels, start }: Layout,
  { color }: QrTask,
  logo: Bitmap,
): Buffer {
  const rgb = Buffer.alloc(side * side * 3, 255)
  const dark = Buffer.from([color.red, color.green, color.blue])
  for (const [y, row] of modules.entries()) {
    const first = (start + y * modulePixels) * side
    for (const { from, length } of darkRuns(row)) {
      const at = (first + start + from * modulePixels) * 3
      rgb.fill(dark, at, at + length * modulePixels * 3)
    }
    for (let nth = 1; nth < modulePixels; nth += 1) {
      rgb.copyWithin((first + nth * side) * 3, first * 3, (first + side) * 3)
    }
  }
  const hole = holeOf(modules.length)
  const corner = start + hole.from * modulePixels
  const pixels = scaleOnWhite(logo, hole.length * modulePixels)
  for (let y = 0; y < pixels.height; y += 1) {
    const line = pixels.rgb.subarray(y * pixels.width * 3, (y + 1) * pixels.width * 3)
    line.copy(rgb, ((corner + y) * side + corner) * 3)
  }
  return encodeTrueColorPng(side, rgb)
}

function drawPng(modules: Modules, { side, modulePixels, start }: Layout, task: QrTask): Buffer {
  const white = Buffer.alloc(Math.ceil(side / 8))
  const end = side - start - modules.length * modulePixels
  const rows: PixelRows[] = modules.map((row) => {
    const bits = Buffer.from(white)
    for (const [column, dark] of row.entries()) {
      const left = start + column * modulePixels
      if (dark) setBits(bits, left, left + modulePixels)
    }
    return { bits, count: modulePixels }
  })
  const framed = [{ bits: white, count: start }, ...rows, { bits: white, count: end }]
  const drawn = framed.filter(({ count }) => count > 0)
  return encodeTwoColorPng(side, drawn, task.color)
}

function setBits(bits: Buffer, from: number, to: number): void {
  for (let x = from; x < to; x += 1) {
    bits[x >> 3] = (bits[x >> 3] ?? 0) | (0x80 >> (x & 7))
  }
}

/** Draws all dark modules as one path; adjacent ones in a row are joined. */
function drawSvg(modules: Modules, layout: Layout, task: QrTask): Buffer {
  const { side, modulePixels, start } = layout
  const path = modules.flatMap((row, y) =>
    darkRuns(row).map(({ from, length }) => `M${from} ${y}h${length}v1h-${length}z`),
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#ffffff" d="M0 0h${side}v${side}h-${side}z"/><path fill="${formatColor(task.color)}" transform="translate(${start} ${start}) scale(${modulePixels})" d="${path.join('')}"/>${logoImage(modules.length, layout, task.logo)}</svg>\n`
  return Buffer.from(svg)
}

/** Scales with the code, of which it has the coordinates. */
function logoImage(modules: number, layout: Layout, logo: Uint8Array | undefined): string {
  if (logo === undefined) return ''
  const { from, length } = holeOf(modules)
  const corner = layout.start + from * layout.modulePixels
  const side = length * layout.modulePixels
  return `<image x="${corner}" y="${corner}" width="${side}" height="${side}" href="data:image/png;base64,${logo.toBase64()}"/>`
}

function darkRuns(row: readonly boolean[]): { from: number; length: number }[] {
  const runs: { from: number; length: number }[] = []
  for (const [x, dark] of row.entries()) {
    const last = runs.at(-1)
    if (!dark) continue
    if (last !== undefined && last.from + last.length === x) last.length += 1
    else runs.push({ from: x, length: 1 })
  }
  return runs
}
