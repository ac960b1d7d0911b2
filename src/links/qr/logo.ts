import type { Parsed } from '../../platform/failure.ts'

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
