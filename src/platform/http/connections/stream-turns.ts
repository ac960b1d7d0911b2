import type { ServerHttp2Stream } from 'node:http2'

/** Requests of one HTTP/2 connection that are worked on, or whose answers wait, at once. */
const STARTED_MAX = 8
/** No further request is started while more than this waits to be sent. */
const UNSENT_BYTES_MAX = 1024 * 1024
/** What Node.js keeps for an open stream, with its request and its response. */
const STREAM_BYTES = 8 * 1024

/**
 * The requests of one HTTP/2 connection, started in their order. A client decides by its flow-control
 * windows when an answer leaves, so each started request may cost a whole answer for as long as it likes.
 */
export class StreamTurns {
  readonly #startedMax: number
  readonly #started = new Set<ServerHttp2Stream>()
  /** In their order. */
  readonly #waiting = new Map<ServerHttp2Stream, () => void>()

  constructor(startedMax = STARTED_MAX) {
    this.#startedMax = startedMax
  }

  /** Bytes of answers that wait, and of the streams themselves. */
  get unsentBytes(): number {
    return this.#answerBytes() + (this.#started.size + this.#waiting.size) * STREAM_BYTES
  }

  get isIdle(): boolean {
    return this.#started.size === 0 && this.#waiting.size === 0
  }

  /** Calls `start` now, or when enough of the answers before it has left; never once the stream is closed. */
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

/** What writes an answer in pieces holds the rest of it, as Fastify does. */
function unsentBytesOf({ writableLength, sentHeaders }: ServerHttp2Stream): number {
  return Math.max(writableLength, Number(sentHeaders?.['content-length'] ?? 0))
}
