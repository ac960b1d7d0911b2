import type { Arrival } from '../arrived-securely.ts'
import { http } from '../node-http.ts'
import type { RequestTarget } from '../request-target.ts'
import type { VisitHeaders } from '../visit-headers.ts'
import { httpDate } from './http-date.ts'
import type { SimpleRequest } from './simple-request.ts'

/** A simple request, and the way to answer it without Node's request and response objects. */
export class FastExchange {
  readonly method = 'GET'
  readonly target: RequestTarget
  readonly headers: VisitHeaders
  readonly remoteAddress: string
  /** By `performance.now()`. */
  readonly startedMs = performance.now()
  readonly isEncrypted: boolean
  readonly #connection: AnsweredConnection
  #isAnswered = false

  constructor(request: SimpleRequest, arrival: Arrival, connection: AnsweredConnection) {
    this.target = request.target
    this.headers = request.headers
    this.remoteAddress = arrival.remoteAddress
    this.isEncrypted = arrival.isEncrypted
    this.#connection = connection
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  /**
   * @param fixed headers that many answers share, in one object
   * @param own this answer's headers; among them or the fixed ones is `Content-Length`
   * @param body its bytes, a character each
   * @throws where a header's value cannot be sent
   */
  answer(status: number, fixed: Headers, own: Headers, body: string): void {
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${fixedLines(fixed)}${linesOf(own)}`
    this.#isAnswered = true
    this.#connection.send(
      `${head}Date: ${httpDate()}\r\n${this.#connection.keepAliveHeaders}\r\n${body}`,
    )
  }

  /** Gives the visitor no answer. */
  abandon(): void {
    this.#connection.destroy()
  }
}

type Headers = Readonly<Record<string, string>>

const linesOfFixed = new WeakMap<Headers, string>()

function fixedLines(headers: Headers): string {
  let lines = linesOfFixed.get(headers)
  if (lines === undefined) {
    lines = linesOf(headers)
    linesOfFixed.set(headers, lines)
  }
  return lines
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] as string
    http.validateHeaderValue(name, value)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** What an exchange needs of the connection that it is on. */
export type AnsweredConnection = {
  readonly keepAliveHeaders: string
  /** @param text the answer's bytes, a character each */
  send(text: string): void
  destroy(): void
}
