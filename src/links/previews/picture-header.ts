/** What the first bytes of a picture say of it. */
export type PictureHeader = {
  readonly format: 'png' | 'jpeg' | 'webp' | 'gif'
  /** In pixels, before `orientation` is applied. */
  readonly width: number
  readonly height: number
  /** How a JPEG is to be turned, from 1 (as it is) to 8, as EXIF numbers it. */
  readonly orientation: number
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Reads format and size, so that a picture too large is refused before it is decoded; undefined for other bytes. */
export function readPictureHeader(bytes: Uint8Array): PictureHeader | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    return readPng(buffer) ?? readJpeg(buffer) ?? readGif(buffer) ?? readWebp(buffer)
  } catch (error) {
    // A read behind the end: the picture is cut off.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readPng(buffer: Buffer): PictureHeader | undefined {
  if (!buffer.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined
  if (buffer.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const [width, height] = [buffer.readUInt32BE(16), buffer.readUInt32BE(20)]
  return { format: 'png', width, height, orientation: 1 }
}

function readGif(buffer: Buffer): PictureHeader | undefined {
  if (!/^GIF8[79]a$/.test(buffer.toString('latin1', 0, 6))) return undefined
  const [width, height] = [buffer.readUInt16LE(6), buffer.readUInt16LE(8)]
  return { format: 'gif', width, height, orientation: 1 }
}

/** https://developers.google.com/speed/webp/docs/riff_container */
function readWebp(buffer: Buffer): PictureHeader | undefined {
  if (buffer.toString('latin1', 0, 4) !== 'RIFF') return undefined
  if (buffer.toString('latin1', 8, 12) !== 'WEBP') return undefined
  const sized = (width: number, height: number): PictureHeader => ({
    ...{ format: 'webp', width, height, orientation: 1 },
  })
  switch (buffer.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return sized(buffer.readUInt16LE(26) & 0x3fff, buffer.readUInt16LE(28) & 0x3fff)
    case 'VP8L': {
      const bits = buffer.readUInt32LE(21)
      return sized((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case 'VP8X':
      return sized(buffer.readUIntLE(24, 3) + 1, buffer.readUIntLE(27, 3) + 1)
    default:
      return undefined
  }
}

const START_OF_SCAN = 0xda
const EXIF = 0xe1
/** Markers of frames that have a size: SOF0 to SOF15, without DHT, JPG and DAC, which share their range. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

function readJpeg(buffer: Buffer): PictureHeader | undefined {
  if (buffer.readUInt16BE(0) !== 0xffd8) return undefined
  let orientation = 1
  for (let at = 2; ; ) {
    if (buffer.readUInt8(at) !== 0xff) return undefined
    const marker = buffer.readUInt8(at + 1)
    // Bytes that fill up.
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (marker === START_OF_SCAN) return undefined
    const length = buffer.readUInt16BE(at + 2)
    if (length < 2) return undefined
    if (isFrame(marker)) {
      const [height, width] = [buffer.readUInt16BE(at + 5), buffer.readUInt16BE(at + 7)]
      return { format: 'jpeg', width, height, orientation }
    }
    if (marker === EXIF) {
      orientation = readOrientation(buffer.subarray(at + 4, at + 2 + length)) ?? orientation
    }
    at += 2 + length
  }
}

const ORIENTATION_TAG = 0x0112

/** Reads the orientation in the first directory of EXIF (TIFF 6.0, section 2); undefined where there is none. */
function readOrientation(exif: Buffer): number | undefined {
  if (exif.toString('latin1', 0, 6) !== 'Exif\0\0') return undefined
  const tiff = exif.subarray(6)
  const isLittle = tiff.toString('latin1', 0, 2) === 'II'
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  const long = (at: number) => (isLittle ? tiff.readUInt32LE(at) : tiff.readUInt32BE(at))
  try {
    const directory = long(4)
    for (let nth = 0; nth < short(directory); nth += 1) {
      const entry = directory + 2 + nth * 12
      if (short(entry) !== ORIENTATION_TAG) continue
      const value = short(entry + 8)
      return value >= 1 && value <= 8 ? value : undefined
    }
  } catch (error) {
    // Damaged EXIF says nothing; the picture may be whole.
    if (!(error instanceof RangeError)) throw error
  }
  return undefined
}
