import type { IncomingMessage, ServerResponse } from 'node:http'
import { http } from '../platform/http/node-http.ts'
import type { RequestTarget } from '../platform/http/request-target.ts'
import { type VisitHeaders, visitHeadersOf } from '../platform/http/visit-headers.ts'

/** A visitor's request and the way to answer it, on the fast path or over Node's own objects. */
export type Exchange = {
  readonly method: string
  readonly target: RequestTarget
  readonly headers: VisitHeaders
  /** The socket's own. */
  readonly remoteAddress: string
  /** When its head had been read, by `performance.now()`. */
  readonly startedMs: number
  /** Whether the connection uses TLS. */
  readonly isEncrypted: boolean
  /** Whether an answer has been started. */
  readonly isAnswered: boolean
  /**
   * @param fixed headers that many answers share, in one object, so that they may be written in advance
   * @param own this answer's headers; among them or the fixed ones is `Content-Length`
   * @param body its bytes, one character each; not sent in answer to `HEAD`
   * @throws where a header's value cannot be sent
   */
  answer(status: number, fixed: AnswerHeaders, own: AnswerHeaders, body: string): void
  /** Ends the connection without an answer, or within one. */
  abandon(): void
}

export type AnswerHeaders = Readonly<Record<string, string>>

/** The exchange over Node's own request and response. */
export class HttpExchange implements Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly target: RequestTarget
  readonly remoteAddress: string
  readonly startedMs = performance.now()
  readonly isEncrypted: boolean
  readonly headers: VisitHeaders

  constructor(request: IncomingMessage, response: ServerResponse, target: RequestTarget) {
    this.request = request
    this.response = response
    this.target = target
    // Read now, because a closed socket has neither.
    this.remoteAddress = request.socket.remoteAddress ?? ''
    this.isEncrypted = 'encrypted' in request.socket
    this.headers = visitHeadersOf(request.headers)
  }

  get method(): string {
    return this.request.method ?? ''
  }

  get isAnswered(): boolean {
    return this.response.headersSent
  }

  answer(status: number, fixed: AnswerHeaders, own: AnswerHeaders, body: string): void {
    const headers = { ...fixed, ...own }
    if (this.request.httpVersionMajor === 2) this.response.writeHead(status, headers)
    // With the reason phrase: Node would keep that of an answer whose headers it refused.
    else this.response.writeHead(status, http.STATUS_CODES[status], headers)
    if (body === '' || this.method === 'HEAD') this.response.end()
    else this.response.end(body, 'latin1')
  }

  abandon(): void {
    this.response.destroy()
  }
}
