import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How many received bytes are parsed before checking whether a request waits. A request has at least 18
 * bytes, so at most 227 wait on one connection.
 */
const PIECE_BYTES = 4 * 1024

const gates = new WeakMap<Socket, InputGate>()

/**
 * Sits between a connection and Node's parser, which would start all pipelined requests of a packet at
 * once, even when the client does not read the answers. Nothing is parsed while a request waits for the
 * answer before it.
 */
class InputGate {
  readonly #socket: Socket
  readonly #toParser: (bytes: Buffer) => void
  readonly #toParserAtEnd: () => void
  #waiting = 0
  #hasEnded = false

  /** @param socket must have the listeners of Node's HTTP server already */
  constructor(socket: Socket) {
    this.#socket = socket
    this.#toParser = takeListener(socket, 'data')
    this.#toParserAtEnd = takeListener(socket, 'end')
    socket.on('data', this.#onData)
    socket.on('end', this.#onEnd)
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Calls `start` when Node assigns the socket to this response: when the answer before it is sent. */
  wait(response: ServerResponse, start: () => void): void {
    this.#waiting += 1
    response.once('socket', () => {
      this.#waiting -= 1
      start()
      if (this.#waiting > 0) return
      this.#socket.resume()
      if (this.#hasEnded) this.#toParserAtEnd.call(this.#socket)
    })
  }

  readonly #onData = (bytes: Buffer): void => {
    const socket = this.#socket
    let parsed = 0
    if (this.#waiting === 0) {
      parsed = Math.min(bytes.length, PIECE_BYTES)
      this.#toParser.call(socket, parsed === bytes.length ? bytes : bytes.subarray(0, parsed))
    }
    // A flowing socket would emit the returned bytes again at once.
    if (this.#waiting > 0) socket.pause()
    if (parsed < bytes.length) socket.unshift(bytes.subarray(parsed))
  }

  /** Delayed while requests wait: Node ends the connection on `end`, and they would get no answer. */
  readonly #onEnd = (): void => {
    if (this.#waiting > 0) this.#hasEnded = true
    else this.#toParserAtEnd.call(this.#socket)
  }
}

/** Puts a gate before Node's parser. The socket must have the listeners of Node's HTTP server already. */
export function gateInput(socket: Socket): void {
  gates.set(socket, new InputGate(socket))
}

/** Starts an HTTP/1 request when the answers to earlier requests of its connection have left the process. */
export function startInTurn(socket: Socket, response: ServerResponse, start: () => void): void {
  if (response.socket === null) gates.get(socket)?.wait(response, start)
  else start()
}

/** How many parsed requests of a connection wait for the answers before them. */
export function waitingRequests(socket: Socket): number {
  return gates.get(socket)?.waiting ?? 0
}

function takeListener(socket: Socket, event: 'data' | 'end'): (bytes?: Buffer) => void {
  const [listener] = socket.listeners(event).slice(-1)
  if (listener === undefined) throw new Error(`Node's HTTP server has no listener for ${event}.`)
  socket.off(event, listener as () => void)
  return listener as (bytes?: Buffer) => void
}
