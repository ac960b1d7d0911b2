import type { RequestListener, ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Activity } from '../connections/connections.ts'
import { http } from '../node-http.ts'
import { FastConnection, type FastConnectionOwner } from './fast-connection.ts'
import type { FastExchange } from './fast-exchange.ts'

/** In milliseconds; names that Node's server has too mean the same as there. */
type Timeouts = {
  readonly headersTimeout: number
  readonly keepAliveTimeout: number
  readonly keepAliveTimeoutBuffer: number
  readonly connectionsCheckingInterval: number
  /** The longest time without a byte sent or received during a request. */
  readonly standstillTimeout: number
}

/**
 * Node's HTTP server with a fast path: simple requests are answered from their bytes, without the cost of
 * the parser's callbacks, request and response objects, and timers. A connection is handed over to Node's
 * server at the first bytes that are not exactly one simple request.
 */
export class FastServer extends http.Server {
  readonly #connections = new Set<FastConnection>()
  /** After how many checks in a row without activity a connection is closed. */
  readonly #checksMax: { readonly first: number; readonly busy: number; readonly next: number }
  readonly #toNode: readonly ((socket: Socket) => void)[]
  #checking: NodeJS.Timeout | undefined

  readonly #onHandOver: (socket: Socket) => void

  /**
   * @param options.answer as in `FastConnectionOwner`
   * @param options.onOpen called for each connection, with its state while it is on the fast path
   * @param options.onHandOver called when Node's server has taken over a connection, before it gets bytes
   */
  constructor(
    options: ServerOptions &
      Timeouts & {
        answer: (exchange: FastExchange) => boolean
        onOpen: (socket: Socket, activity: Activity) => void
        onHandOver: (socket: Socket) => void
      },
    onRequest: RequestListener,
  ) {
    super(options, onRequest)
    this.timeout = options.standstillTimeout
    this.#onHandOver = options.onHandOver
    const checksIn = (ms: number) => Math.floor(ms / options.connectionsCheckingInterval) + 1
    this.#checksMax = {
      first: checksIn(options.headersTimeout),
      busy: checksIn(options.standstillTimeout),
      next: checksIn(options.keepAliveTimeout + options.keepAliveTimeoutBuffer),
    }
    const server = this
    const owner: FastConnectionOwner = {
      keepAliveHeaders: `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(options.keepAliveTimeout / 1000)}\r\n`,
      get isOpen() {
        return server.listening
      },
      answer: options.answer,
      handOver: (connection, socket, unread) => this.#handOver(connection, socket, unread),
      onClose: (connection) => this.#connections.delete(connection),
    }
    // Node's own listener for `connection` attaches the HTTP parser.
    this.#toNode = this.listeners('connection') as ((socket: Socket) => void)[]
    this.removeAllListeners('connection')
    this.on('connection', (socket) => {
      const connection = new FastConnection(socket, owner)
      this.#connections.add(connection)
      options.onOpen(socket, connection)
    })
    this.on('listening', () => {
      const check = () => this.#check()
      this.#checking = setInterval(check, options.connectionsCheckingInterval).unref()
    })
    this.on('close', () => clearInterval(this.#checking))
  }

  override closeIdleConnections(): void {
    super.closeIdleConnections()
    for (const connection of this.#connections) if (connection.isIdle) connection.destroy()
  }

  override closeAllConnections(): void {
    super.closeAllConnections()
    for (const connection of this.#connections) connection.destroy()
  }

  #handOver(connection: FastConnection, socket: Socket, unread: Buffer): void {
    this.#connections.delete(connection)
    for (const listener of this.#toNode) listener.call(this, socket)
    this.#onHandOver(socket)
    socket.unshift(unread)
    socket.resume()
  }

  /** Closes connections that have been silent for too long, after the same times as Node's server. */
  #check(): void {
    for (const connection of this.#connections) {
      const checks = connection.countIdleCheck()
      if (!connection.isIdle) {
        if (checks >= this.#checksMax.busy) connection.destroy()
      } else if (connection.hasAnswered) {
        if (checks >= this.#checksMax.next) connection.destroy()
      } else if (checks === this.#checksMax.first) {
        this.emit('clientError', new RequestTimeout(), connection.release())
        this.#connections.delete(connection)
      }
    }
  }
}

/** Has the code of Node's own error. */
class RequestTimeout extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT'
}
