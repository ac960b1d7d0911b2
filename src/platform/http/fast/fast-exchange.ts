import type { Arrival } from '../arrived-securely.ts'
import { http } from '../node-http.ts'
import type { RequestTarget } from '../request-target.ts'
import type { VisitHeaders } from '../visit-headers.ts'
import { httpDate } from './http-date.ts'
import type { SimpleRequest } from './simple-request.ts'

/** A simple request and its answer, without Node's request and response objects. */
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
   * @param fixed headers that many answers share, in one object, whose text is cached
   * @param own this answer's headers; `own` or `fixed` must contain `Content-Length`
   * @param body one character for each byte
   * @throws when a header's value contains characters that are not allowed
   */
  answer(status: number, fixed: Headers, own: Headers, body: string): void {
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${fixedLines(fixed)}${linesOf(own)}`
    this.#isAnswered = true
    this.#connection.send(
      `${head}Date: ${httpDate()}\r\n${this.#connection.keepAliveHeaders}\r\n${body}`,
    )
  }

  /** Closes the connection without an answer. */
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

/** The connection of an exchange. */
export type AnsweredConnection = {
  readonly keepAliveHeaders: string
  /** @param text the answer, one character for each byte */
  send(text: string): void
  destroy(): void
}
