import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * How much of what has come is parsed before the next look at whether a request waits. A request is at
 * least 18 bytes, so at most 227 wait on one connection.
 */
const BYTES_AT_A_TIME = 4 * 1024

const gates = new WeakMap<Socket, InputGate>()

/**
 * Stands between a connection and Node's parser, which would start every request of a packet, however
 * many there are and whether or not their client reads the answers. Nothing is parsed while a request
 * waits for its turn.
 */
class InputGate {
  readonly #socket: Socket
  readonly #toParser: (bytes: Buffer) => void
  readonly #toParserAtEnd: () => void
  #waiting = 0
  #hasEnded = false

  /** @param socket to which Node's HTTP server listens already */
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

  /** Calls `start` once Node has given the connection to this answer, which is when the one before has left. */
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
    let rest = bytes
    if (this.#waiting === 0) {
      this.#toParser.call(socket, bytes.subarray(0, BYTES_AT_A_TIME))
      rest = bytes.subarray(BYTES_AT_A_TIME)
    }
    // A socket that flows emits at once what it is given back.
    if (this.#waiting > 0) socket.pause()
    if (rest.length > 0) socket.unshift(rest)
  }

  /** Node ends a connection with its client, so requests that still wait would get no answer. */
  readonly #onEnd = (): void => {
    if (this.#waiting > 0) this.#hasEnded = true
    else this.#toParserAtEnd.call(this.#socket)
  }
}

/** Puts a gate before Node's parser. Node's HTTP server must listen to the connection already. */
export function gateInput(socket: Socket): void {
  gates.set(socket, new InputGate(socket))
}

/** Starts a request of HTTP/1 when the answers to those before it on its connection have left the process. */
export function startInTurn(socket: Socket, response: ServerResponse, start: () => void): void {
  if (response.socket === null) gates.get(socket)?.wait(response, start)
  else start()
}

/** How many requests have been parsed on a connection and wait for their turn. */
export function waitingRequests(socket: Socket): number {
  return gates.get(socket)?.waiting ?? 0
}

function takeListener(socket: Socket, event: 'data' | 'end'): (bytes?: Buffer) => void {
  const [listener] = socket.listeners(event).slice(-1)
  if (listener === undefined) throw new Error(`Node's HTTP server has no listener for ${event}.`)
  socket.off(event, listener as () => void)
  return listener as (bytes?: Buffer) => void
}
