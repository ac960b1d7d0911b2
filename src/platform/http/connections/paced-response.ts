import { http } from '../node-http.ts'

/**
 * How much of an answer is written to the connection at a time. A TLS connection encrypts everything that
 * is written at once, and keeps a buffer of that size until it is closed.
 */
const PIECE_BYTES = 64 * 1024

type Callback = () => void

/** An HTTP/1 response that writes a large body in pieces, each when the one before is sent. */
export class PacedResponse extends http.ServerResponse {
  #heldBytes = 0

  /** Bytes of the body that are not yet written to the connection. */
  get heldBytes(): number {
    return this.destroyed ? 0 : this.#heldBytes
  }

  override end(callback?: Callback): this
  override end(chunk: unknown, callback?: Callback): this
  override end(chunk: unknown, encoding: BufferEncoding, callback?: Callback): this
  override end(chunk?: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): this {
    const bytes = typeof encoding === 'function' ? undefined : largeBytes(chunk, encoding)
    if (bytes === undefined || this.req.method === 'HEAD') {
      return super.end(chunk, encoding as BufferEncoding, callback)
    }
    if (!this.headersSent && !this.hasHeader('Content-Length')) {
      this.setHeader('Content-Length', bytes.length)
    }
    this.#send(bytes, callback)
    return this
  }

  #send(rest: Uint8Array, callback: Callback | undefined): void {
    let left = rest
    while (left.length > PIECE_BYTES) {
      const mayGoOn = this.write(left.subarray(0, PIECE_BYTES))
      left = left.subarray(PIECE_BYTES)
      this.#heldBytes = left.length
      if (mayGoOn) continue
      this.once('drain', () => this.#send(left, callback))
      return
    }
    this.#heldBytes = 0
    super.end(left, callback)
  }
}

/** The body as bytes; undefined when it fits into one piece. */
function largeBytes(chunk: unknown, encoding: BufferEncoding | undefined): Uint8Array | undefined {
  if (typeof chunk === 'string' && chunk.length > PIECE_BYTES) return Buffer.from(chunk, encoding)
  return chunk instanceof Uint8Array && chunk.length > PIECE_BYTES ? chunk : undefined
}
