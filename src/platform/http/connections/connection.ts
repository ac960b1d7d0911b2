import type { Socket } from 'node:net'

/** The current HTTP state of a connection. */
export type Activity = {
  /** Whether no request is under way. */
  readonly isIdle: boolean
  /** Bytes of answers that this process still buffers. */
  readonly unsentBytes: number
}

/** One open connection, with the state that its limits need. */
export class Connection {
  /** The TCP connection itself. */
  readonly raw: Socket
  /** The subscriber that it counts for; undefined for a trusted proxy, which carries many clients. */
  readonly owner: string | undefined
  /** The socket that carries HTTP: `raw`, or the TLS connection over it. */
  socket: Socket
  /** Undefined before the HTTP server has taken the connection. */
  activity: Activity | undefined
  /** As of the last check. */
  unsentBytes = 0
  /** When bytes began to wait, or when the current drain window began; undefined while none wait. */
  windowStartedMs: number | undefined
  /** Bytes sent before the current drain window. */
  windowSentBytes = 0
  /** When a check last found that bytes were sent. */
  movedAtMs = Number.NEGATIVE_INFINITY
  #sentBytesLast = 0

  constructor(raw: Socket, owner: string | undefined) {
    this.raw = raw
    this.owner = owner
    this.socket = raw
  }

  get isIdle(): boolean {
    return this.activity === undefined || this.activity.isIdle
  }

  /** Updates the counts of waiting and sent bytes. */
  measure(nowMs: number): void {
    this.unsentBytes = this.activity?.unsentBytes ?? 0
    // TLS encrypts an answer as soon as it is written, and buffers the encrypted copy too.
    if (this.socket !== this.raw) this.unsentBytes += handleOf(this.raw)?.writeQueueSize ?? 0
    if (this.unsentBytes === 0) {
      this.windowStartedMs = undefined
      return
    }
    const sent = this.sentBytes()
    if (sent !== this.#sentBytesLast) {
      this.#sentBytesLast = sent
      this.movedAtMs = nowMs
    }
    if (this.windowStartedMs === undefined) this.startWindow(nowMs)
  }

  startWindow(nowMs: number): void {
    this.windowStartedMs = nowMs
    this.windowSentBytes = this.sentBytes()
  }

  /**
   * Bytes that the operating system has accepted, partial writes included. Node's documented counters
   * change only when a whole write is done, which takes minutes for a megabyte to a slow reader.
   */
  sentBytes(): number {
    const handle = handleOf(this.raw)
    return handle === undefined
      ? this.raw.bytesWritten - this.raw.writableLength
      : handle.bytesWritten - handle.writeQueueSize
  }

  destroy(): void {
    this.socket.destroy()
    this.raw.destroy()
  }
}

type Handle = { readonly bytesWritten: number; readonly writeQueueSize: number }

function handleOf(socket: Socket): Handle | undefined {
  return (socket as { _handle?: Handle | null })._handle ?? undefined
}
