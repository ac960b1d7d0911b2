import { Transform, type TransformCallback } from 'node:stream'
import { crc32 } from 'node:zlib'
import { deflatePart } from './compress-bytes.ts'
import type { Compressor } from './compressor.ts'

/** RFC 1952: deflate, no flags, no time, no level, no system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
/** RFC 1951: an empty final block. */
const LAST_BLOCK = Buffer.from([0x03, 0x00])
const COPY = 0

/**
 * Compresses what is written to it as a gzip stream, chunk by chunk. Each chunk is compressed separately,
 * so that a client that stops reading holds no compressor, and one that reads gets each chunk at once.
 */
export class GzipStream extends Transform {
  readonly #compressor: Compressor
  #crc = 0
  #size = 0

  constructor(compressor: Compressor) {
    super()
    this.#compressor = compressor
    this.push(HEADER)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#crc = crc32(chunk, this.#crc)
    this.#size = (this.#size + chunk.length) >>> 0
    this.#compressor.compress({ body: chunk, form: 'deflate-part', effort: 'each' }).then(
      (part) => done(null, part ?? deflatePart(chunk, COPY)),
      (error: Error) => done(error),
    )
  }

  override _flush(done: TransformCallback): void {
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(this.#crc, 0)
    trailer.writeUInt32LE(this.#size, 4)
    done(null, Buffer.concat([LAST_BLOCK, trailer]))
  }
}
