import { once } from 'node:events'
import type { Socket } from 'node:net'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
/** Frame types and flags of RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  goaway: 7,
  windowUpdate: 8,
} as const
const END_STREAM = 1
const END_HEADERS = 4
const INITIAL_WINDOW_SIZE = 4
const HEADER_BYTES = 9

export type Frame = { readonly type: number; readonly stream: number; readonly payload: Buffer }

/** An HTTP/2 connection on which a test sends any frames. */
export class RawHttp2 {
  readonly #socket: Socket
  /** All received frames except data. */
  readonly frames: Frame[] = []
  /** The number of complete answers. */
  answered = 0
  #received: Buffer = Buffer.alloc(0)

  /** @param initialWindowSize how many bytes of each answer the server may send unrequested */
  constructor(socket: Socket, initialWindowSize = 65_535) {
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    const setting = Buffer.alloc(6)
    setting.writeUInt16BE(INITIAL_WINDOW_SIZE, 0)
    setting.writeUInt32BE(initialWindowSize, 2)
    socket.write(Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0, setting)]))
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  /** A request without a body; `block` contains its headers in HPACK. */
  request(stream: number, block: Buffer): void {
    this.send(frame(FRAME.headers, END_STREAM | END_HEADERS, stream, block))
  }

  send(...frames: readonly Buffer[]): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat(frames))
  }

  /** Settles when the system has accepted the sent bytes, or the connection is closed. */
  async sent(): Promise<void> {
    if (this.#socket.writableNeedDrain && !this.isClosed) {
      const settled = Promise.race([once(this.#socket, 'drain'), once(this.#socket, 'close')])
      // A reset is reported as an error of the socket before it closes.
      await settled.catch(() => {})
    }
  }

  async closed(): Promise<void> {
    if (!this.isClosed) await once(this.#socket, 'close')
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#received.readUIntBE(0, 3)
      if (this.#received.length < end) return
      const type = this.#received.readUInt8(3)
      const stream = this.#received.readUInt32BE(5)
      const isEnd = (this.#received.readUInt8(4) & END_STREAM) !== 0
      if (isEnd && (type === FRAME.data || type === FRAME.headers)) this.answered += 1
      if (type !== FRAME.data) {
        const payload = Buffer.from(this.#received.subarray(HEADER_BYTES, end))
        this.frames.push({ type, stream, payload })
      }
      this.#received = this.#received.subarray(end)
    }
  }
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUIntBE(payload.length, 0, 3)
  header.writeUInt8(type, 3)
  header.writeUInt8(flags, 4)
  header.writeUInt32BE(stream, 5)
  return Buffer.concat([header, payload])
}

/**
 * The headers of a `GET` over HTTPS, in HPACK's static table and without adding to the dynamic one.
 */
export function getBlock(authority: string, path: string): Buffer {
  return Buffer.concat([
    Buffer.from([0x82, 0x87, 0x01]),
    hpackText(authority),
    Buffer.from([0x04]),
    hpackText(path),
  ])
}

/** A header that HPACK does not add to its dynamic table. */
export function plainHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x00]), hpackText(name), hpackText(value)])
}

/** A header that HPACK adds to its dynamic table as the newest entry. */
export function rememberedHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), hpackText(name), hpackText(value)])
}

/** So many references to the newest entry of HPACK's dynamic table, one byte each. */
export function references(count: number): Buffer {
  return Buffer.alloc(count, 0xbe)
}

function hpackText(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}
