import type { Socket } from 'node:net'

/** What HTTP does on a connection at the moment. */
export type Activity = {
  /** Whether no request is under way. */
  readonly isIdle: boolean
  /** Bytes of answers that the process still holds. */
  readonly unsentBytes: number
}

/** One open connection, as its bounds see it. */
export class Connection {
  /** The TCP connection itself. */
  readonly raw: Socket
  /** The subscriber that it counts for; undefined for a proxy, which speaks for many. */
  readonly owner: string | undefined
  /** What speaks HTTP: `raw`, or the TLS connection over it. */
  socket: Socket
  /** Undefined before HTTP is spoken. */
  activity: Activity | undefined
  /** As of the last look. */
  unsentBytes = 0
  /** Since when bytes wait to be sent, or since the last look at how many have left; undefined while none wait. */
  waitsSinceMs: number | undefined
  /** What had left by then. */
  sentBytesThen = 0
  /** When bytes were last seen to have left. */
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

  /** Looks at what waits and what has left. */
  look(nowMs: number): void {
    this.unsentBytes = this.activity?.unsentBytes ?? 0
    // TLS encrypts an answer as soon as it is written, and holds it a second time.
    if (this.socket !== this.raw) this.unsentBytes += handleOf(this.raw)?.writeQueueSize ?? 0
    if (this.unsentBytes === 0) {
      this.waitsSinceMs = undefined
      return
    }
    const sent = this.sentBytes()
    if (sent !== this.#sentBytesLast) {
      this.#sentBytesLast = sent
      this.movedAtMs = nowMs
    }
    if (this.waitsSinceMs === undefined) this.startWindow(nowMs)
  }

  startWindow(nowMs: number): void {
    this.waitsSinceMs = nowMs
    this.sentBytesThen = this.sentBytes()
  }

  /**
   * What the system has taken, a part of a write counted. Node's documented numbers change only when a
   * whole write is done, which for one of a megabyte to a slow reader takes minutes.
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
