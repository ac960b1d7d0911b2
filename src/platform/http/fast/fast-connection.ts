import type { Socket } from 'node:net'
import type { Activity } from '../connections/connections.ts'
import type { Arrival } from '../forwarded.ts'
import { type AnsweredConnection, FastExchange } from './fast-exchange.ts'
import { emitReads, readShared } from './shared-reads.ts'
import { readSimpleRequest } from './simple-request.ts'

/** The server's side of a connection. */
export type FastConnectionOwner = {
  readonly keepAliveHeaders: string
  /** False while the server closes: Node then answers the request and ends the connection. */
  readonly isOpen: boolean
  /** Answers the request, now or later; returns false for a request that Node's server must answer. */
  readonly answer: (exchange: FastExchange) => boolean
  /** Gives the connection and its unread bytes to Node's HTTP server. */
  readonly handOver: (connection: FastConnection, socket: Socket, unread: Buffer) => void
  readonly onClose: (connection: FastConnection) => void
}

/**
 * A connection that has received only simple requests so far, one at a time. At the first other bytes
 * (another method, half a request, two at once) it is handed over to Node's server for good.
 */
export class FastConnection implements AnsweredConnection, Activity {
  readonly #socket: Socket
  readonly #owner: FastConnectionOwner
  readonly #arrival: Arrival
  #isBusy = false
  #hasAnswered = false
  /** Bytes that arrived before the answer to an earlier request was sent. */
  #unread: Buffer | undefined
  #idleChecks = 0

  constructor(socket: Socket, owner: FastConnectionOwner) {
    this.#socket = socket
    this.#owner = owner
    this.#arrival = {
      isEncrypted: 'encrypted' in socket,
      remoteAddress: socket.remoteAddress ?? '',
    }
    if (!readShared(socket, this.#onBytes)) socket.on('data', this.#onBytes)
    socket.on('end', this.#onEnd)
    socket.on('error', ignore)
    socket.on('close', this.#onClose)
  }

  get keepAliveHeaders(): string {
    return this.#owner.keepAliveHeaders
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#socket.writableLength === 0
  }

  get unsentBytes(): number {
    return this.#socket.writableLength
  }

  /** Whether at least one request was answered. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  /** Counts a check without activity; returns how many there were in a row. */
  countIdleCheck(): number {
    this.#idleChecks += 1
    return this.#idleChecks
  }

  send(text: string): void {
    const socket = this.#socket
    this.#isBusy = false
    this.#hasAnswered = true
    this.#idleChecks = 0
    if (socket.writable) socket.write(text, 'latin1')
    if (this.#unread !== undefined) this.#handOverOnceSent()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Removes its listeners from the socket and returns it to the next owner. */
  release(): Socket {
    const socket = this.#socket
    socket.off('data', this.#onBytes)
    emitReads(socket)
    socket.off('end', this.#onEnd)
    socket.off('error', ignore)
    socket.off('close', this.#onClose)
    return socket
  }

  /** Returns whether to read on. The bytes are valid until then. */
  readonly #onBytes = (bytes: Buffer): boolean => {
    this.#idleChecks = 0
    if (!this.isIdle) {
      this.#unread = Buffer.from(bytes)
      this.#socket.pause()
      if (!this.#isBusy) this.#handOverOnceSent()
      return false
    }
    const request = this.#owner.isOpen ? readSimpleRequest(bytes) : undefined
    if (request !== undefined) {
      this.#isBusy = true
      const exchange = new FastExchange(request, this.#arrival, this)
      if (this.#owner.answer(exchange)) return true
      this.#isBusy = false
    }
    this.#handOver(Buffer.from(bytes))
    return true
  }

  /** Like Node's server: ends the connection when its client does, even with an answer outstanding. */
  readonly #onEnd = (): void => {
    this.#socket.end()
  }

  readonly #onClose = (): void => this.#owner.onClose(this)

  /** Waits for the last answer to be sent, because Node's server would start the next request at once. */
  #handOverOnceSent(): void {
    const handOver = () => {
      if (this.#unread !== undefined) this.#handOver(this.#unread)
    }
    if (this.#socket.writableLength === 0) handOver()
    // The callback runs when all earlier writes were accepted by the operating system.
    else this.#socket.write('', handOver)
  }

  #handOver(unread: Buffer): void {
    if (this.#socket.destroyed) return
    this.#unread = undefined
    this.#owner.handOver(this, this.release(), unread)
  }
}

/** The socket destroys itself on an error; nothing else is to do. */
function ignore(): void {}
