import type { Socket } from 'node:net'
import type { Arrival } from '../arrived-securely.ts'
import type { Activity } from '../connections/connection.ts'
import { type AnsweredConnection, FastExchange } from './fast-exchange.ts'
import { readSimpleRequest } from './simple-request.ts'

/** What a connection needs of the server. */
export type FastConnectionOwner = {
  readonly keepAliveHeaders: string
  /** False while the server closes: what comes then is for Node, which ends the connection. */
  readonly isOpen: boolean
  /** Answers the request, now or later; false for one that is not answered the fast way. */
  readonly answer: (exchange: FastExchange) => boolean
  /** Gives the connection to Node's HTTP server, with the bytes that it has not seen yet. */
  readonly handOver: (connection: FastConnection, socket: Socket, unread: Buffer) => void
  readonly onClose: (connection: FastConnection) => void
}

/**
 * A connection on which nothing but simple requests has come so far, one at a time. At the first
 * bytes that are anything else (another method, half a request, two at once) it is Node's for good.
 */
export class FastConnection implements AnsweredConnection, Activity {
  readonly #socket: Socket
  readonly #owner: FastConnectionOwner
  readonly #arrival: Arrival
  #isBusy = false
  #hasAnswered = false
  /** What came before the answer to an earlier request had left the process. */
  #unread: Buffer | undefined
  #idleChecks = 0

  constructor(socket: Socket, owner: FastConnectionOwner) {
    this.#socket = socket
    this.#owner = owner
    this.#arrival = {
      isEncrypted: 'encrypted' in socket,
      remoteAddress: socket.remoteAddress ?? '',
    }
    socket.on('data', this.#onData)
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

  /** Whether a request was answered on it. */
  get hasAnswered(): boolean {
    return this.#hasAnswered
  }

  /** For how many checks in turn nothing has happened, this one counted. */
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

  /** Lets go of the socket, whose next owner listens to it from now on. */
  release(): Socket {
    const socket = this.#socket
    socket.off('data', this.#onData)
    socket.off('end', this.#onEnd)
    socket.off('error', ignore)
    socket.off('close', this.#onClose)
    return socket
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#idleChecks = 0
    if (!this.isIdle) {
      this.#unread = bytes
      this.#socket.pause()
      if (!this.#isBusy) this.#handOverOnceSent()
      return
    }
    const request = this.#owner.isOpen ? readSimpleRequest(bytes) : undefined
    if (request === undefined) {
      this.#handOver(bytes)
      return
    }
    this.#isBusy = true
    const exchange = new FastExchange(request, this.#arrival, this)
    if (this.#owner.answer(exchange)) return
    this.#isBusy = false
    this.#handOver(bytes)
  }

  /** As Node's server ends a connection whose client has ended it, answered or not. */
  readonly #onEnd = (): void => {
    this.#socket.end()
  }

  readonly #onClose = (): void => this.#owner.onClose(this)

  /** Node's server would begin with the next request although its client has not taken the last answer. */
  #handOverOnceSent(): void {
    const handOver = () => {
      if (this.#unread !== undefined) this.#handOver(this.#unread)
    }
    if (this.#socket.writableLength === 0) handOver()
    // Called when all that was written before has been handed to the system.
    else this.#socket.write('', handOver)
  }

  #handOver(unread: Buffer): void {
    if (this.#socket.destroyed) return
    this.#unread = undefined
    this.#owner.handOver(this, this.release(), unread)
  }
}

/** The socket destroys itself; there is nobody to tell. */
function ignore(): void {}
