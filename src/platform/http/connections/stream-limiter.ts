import type { ServerHttp2Stream } from 'node:http2'

/** Requests of one HTTP/2 connection that are started and not yet fully answered. */
const STARTED_MAX = 8
/** No further request is started while more unsent bytes than this are buffered. */
const UNSENT_BYTES_MAX = 1024 * 1024
/** The memory that Node.js uses for an open stream, with its request and response. */
const STREAM_BYTES = 8 * 1024

/**
 * Starts the requests of one HTTP/2 connection in order, a limited number at a time. The client's
 * flow-control windows decide when an answer is sent, so each started request may keep a whole answer in
 * memory for as long as the client likes.
 */
export class StreamLimiter {
  readonly #startedMax: number
  readonly #started = new Set<ServerHttp2Stream>()
  /** In order of arrival. */
  readonly #waiting = new Map<ServerHttp2Stream, () => void>()

  constructor(startedMax = STARTED_MAX) {
    this.#startedMax = startedMax
  }

  /** Bytes of unsent answers and of the open streams. */
  get unsentBytes(): number {
    return this.#answerBytes() + (this.#started.size + this.#waiting.size) * STREAM_BYTES
  }

  get isIdle(): boolean {
    return this.#started.size === 0 && this.#waiting.size === 0
  }

  /** Calls `start` now, or when enough earlier answers are sent; never after the stream is closed. */
  run(stream: ServerHttp2Stream, start: () => void): void {
    if (stream.destroyed) return
    this.#waiting.set(stream, start)
    stream.once('close', () => {
      this.#waiting.delete(stream)
      this.#started.delete(stream)
      this.#startNext()
    })
    this.#startNext()
  }

  #startNext(): void {
    for (const [stream, start] of this.#waiting) {
      if (!this.#mayStart()) return
      this.#waiting.delete(stream)
      this.#started.add(stream)
      start()
    }
  }

  #mayStart(): boolean {
    return this.#started.size < this.#startedMax && this.#answerBytes() <= UNSENT_BYTES_MAX
  }

  #answerBytes(): number {
    let bytes = 0
    for (const stream of this.#started) bytes += unsentBytesOf(stream)
    return bytes
  }
}

/** Counts the whole body: code that writes in pieces, as Fastify does, buffers the rest itself. */
function unsentBytesOf({ writableLength, sentHeaders }: ServerHttp2Stream): number {
  return Math.max(writableLength, Number(sentHeaders?.['content-length'] ?? 0))
}
