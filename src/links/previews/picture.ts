import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { initPhoton, PhotonImage, resize, SamplingFilter } from '@cf-wasm/photon/others'
import type { ImageName, ImageType } from './image-name.ts'
import { type PictureHeader, readPictureHeader } from './picture-header.ts'

/** Four bytes each while decoded, and several copies of them: about 256 MiB. */
const PIXELS_MAX = 16_777_216
/** The longest side of a picture that is served; networks show none larger. */
const SIDE_MAX = 1_200
/** What messengers show; larger pictures are stored only where nothing makes them smaller. */
const BYTES_WANTED = 300 * 1024
/** Of a picture that is stored. */
const IMAGE_BYTES_MAX = 1024 * 1024
const QUALITIES = [85, 75, 60, 45]

type EncodedPicture = { readonly name: ImageName; readonly data: Uint8Array }
/** Why a picture is refused: its bytes are of no format that is taken, or damaged, or it is too large. */
type PictureFault = 'format' | 'damaged' | 'pixels'
export type PictureResult = EncodedPicture | { readonly fault: PictureFault }

/** Of Node.js; TypeScript has it among the types of browsers. */
declare const WebAssembly: { readonly Module: new (bytes: Uint8Array) => object }

/** Loads the decoder: WebAssembly, which reads no memory but its own, whatever a picture does to it. */
function loadDecoder(): void {
  const file = fileURLToPath(import.meta.resolve('@cf-wasm/photon/photon.wasm'))
  initPhoton.sync({ module: new WebAssembly.Module(readFileSync(file)) })
}

/**
 * Decodes a PNG, JPEG, WebP or GIF, of which only the first picture, and encodes it again: upright, no larger than is
 * shown, without metadata. A picture with few colours or transparency stays a PNG where that is small.
 *
 * Call it once in a thread, which ends after it: a decoder that has failed is not to be used again, and never gives back
 * memory.
 */
export function encodePicture(bytes: Uint8Array): PictureResult {
  const header = readPictureHeader(bytes)
  if (header === undefined || header.width === 0 || header.height === 0) return { fault: 'format' }
  if (header.width * header.height > PIXELS_MAX) return { fault: 'pixels' }
  loadDecoder()
  try {
    return shrinkAndEncode(PhotonImage.new_from_byteslice(bytes), header)
  } catch {
    return { fault: 'damaged' }
  }
}

function shrinkAndEncode(decoded: PhotonImage, header: PictureHeader): PictureResult {
  const [width, height] = [decoded.get_width(), decoded.get_height()]
  const scale = Math.min(1, SIDE_MAX / Math.max(width, height))
  const side = (length: number) => Math.max(1, Math.round(length * scale))
  const image =
    scale === 1 ? decoded : resize(decoded, side(width), side(height), SamplingFilter.CatmullRom)
  const upright = turn(pixelsOf(image), header.orientation)
  return encode(upright, header)
}

type Pixels = { readonly rgba: Uint8Array; readonly width: number; readonly height: number }

function pixelsOf(image: PhotonImage): Pixels {
  return { rgba: image.get_raw_pixels(), width: image.get_width(), height: image.get_height() }
}

/** Turns and mirrors a picture as EXIF's orientation says. */
function turn(pixels: Pixels, orientation: number): Pixels {
  if (orientation === 1) return pixels
  const { rgba, width, height } = pixels
  const swaps = orientation >= 5
  const [w, h] = swaps ? [height, width] : [width, height]
  const from = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height)
  const to = new Uint32Array(width * height)
  const mirrorsX = [2, 3, 7, 8].includes(orientation)
  const mirrorsY = [3, 4, 6, 7].includes(orientation)
  for (let y = 0; y < h; y += 1) {
    for (let x = 0; x < w; x += 1) {
      const [u, v] = swaps ? [y, x] : [x, y]
      const sourceX = mirrorsX ? width - 1 - u : u
      const sourceY = mirrorsY ? height - 1 - v : v
      to[y * w + x] = from[sourceY * width + sourceX] ?? 0
    }
  }
  return { rgba: new Uint8Array(to.buffer), width: w, height: h }
}

function encode(pixels: Pixels, { format }: PictureHeader): PictureResult {
  const { rgba, width, height } = pixels
  if (format !== 'jpeg') {
    const png = new PhotonImage(rgba, width, height).get_bytes()
    if (png.length <= BYTES_WANTED) return named(png, pixels, 'png')
  }
  const opaque = new PhotonImage(onWhite(rgba), width, height)
  for (const quality of QUALITIES) {
    const jpeg = opaque.get_bytes_jpeg(quality)
    const isLast = quality === QUALITIES.at(-1)
    if (jpeg.length <= (isLast ? IMAGE_BYTES_MAX : BYTES_WANTED)) return named(jpeg, pixels, 'jpg')
  }
  return { fault: 'pixels' }
}

/** JPEG has no transparency. */
function onWhite(rgba: Uint8Array): Uint8Array {
  const opaque = new Uint8Array(rgba)
  for (let at = 3; at < opaque.length; at += 4) {
    const alpha = opaque[at] ?? 255
    if (alpha === 255) continue
    for (let channel = at - 3; channel < at; channel += 1) {
      opaque[channel] = Math.round(((opaque[channel] ?? 0) * alpha) / 255 + 255 - alpha)
    }
    opaque[at] = 255
  }
  return opaque
}

function named(data: Uint8Array, { width, height }: Pixels, type: ImageType): EncodedPicture {
  const hash = createHash('sha256').update(data).digest('hex')
  return { name: { hash, width, height, type }, data }
}
