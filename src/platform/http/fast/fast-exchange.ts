import type { Arrival } from '../forwarded.ts'
import { http } from '../node-http.ts'
import type { RequestTarget, VisitHeaders } from '../request-target.ts'
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
    const head = headOf(status, fixed) + linesOf(own)
    this.#isAnswered = true
    this.#connection.send(`${head}${tailOf(this.#connection.keepAliveHeaders)}${body}`)
  }

  /** Closes the connection without an answer. */
  abandon(): void {
    this.#connection.destroy()
  }
}

type Headers = Readonly<Record<string, string>>

/** The beginnings of answers: the status, with the fixed headers. */
const heads = new WeakMap<Headers, { readonly status: number; readonly text: string }>()

function headOf(status: number, fixed: Headers): string {
  const known = heads.get(fixed)
  if (known?.status === status) return known.text
  const text = flat(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${linesOf(fixed)}`)
  heads.set(fixed, { status, text })
  return text
}

let tail = ''
let tailDate = ''
let tailHeaders = ''

/** The end of an answer's head: the date and the headers of its connection. */
function tailOf(keepAliveHeaders: string): string {
  const date = httpDate()
  if (date !== tailDate || keepAliveHeaders !== tailHeaders) {
    tailDate = date
    tailHeaders = keepAliveHeaders
    tail = flat(`Date: ${date}\r\n${keepAliveHeaders}\r\n`)
  }
  return tail
}

/** Has V8 put a text together that consists of parts: copying it into many answers then takes less. */
function flat(text: string): string {
  text.charCodeAt(0)
  return text
}

function linesOf(headers: Headers): string {
  let lines = ''
  for (const name in headers) {
    const value = headers[name] as string
    if (!isPrintable(value)) http.validateHeaderValue(name, value)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

/** Whether a text is printable ASCII, which every header may hold. Node's own check takes several times as long. */
function isPrintable(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return false
  }
  return true
}

/** The connection of an exchange. */
export type AnsweredConnection = {
  readonly keepAliveHeaders: string
  /** @param text the answer, one character for each byte */
  send(text: string): void
  destroy(): void
}

let dateSecond = 0
let dateText = ''

/** The value of a `Date` header (RFC 9110, section 6.6.1), formatted at most once a second. */
function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== dateSecond) {
    dateSecond = now
    dateText = new Date(now * 1000).toUTCString()
  }
  return dateText
}
