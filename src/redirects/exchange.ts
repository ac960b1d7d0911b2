import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawVisit } from '../clicks/index.ts'
import type { LinkHost } from '../links/index.ts'
import { arrivedSecurely } from '../platform/http/forwarded.ts'
import { http } from '../platform/http/node-http.ts'
import { preferredLanguage } from '../platform/http/preferred-language.ts'
import {
  type RequestTarget,
  type VisitHeaders,
  visitHeadersOf,
} from '../platform/http/request-target.ts'
import { Histogram, LATENCY_BOUNDS_SECONDS } from '../platform/metrics/histogram.ts'
import { clientAddress, hidesClient, type Networks } from '../platform/network/ip-address.ts'
import { PAGE_POLICY } from './pages/page.ts'
import type { PageTexts } from './pages/texts/page-texts.ts'
import { DEFAULT_TEXTS, TEXTS } from './pages/texts/texts-by-language.ts'
import { renderVisitorPage, type VisitorPage } from './pages/visitor-page.ts'

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

/** What is served at a path of a host in place of a link. */
export type HostFile = { readonly headers: AnswerHeaders; readonly body: string }

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

/** Reads a visit's headers. Of the headers that proxies add, those of trusted proxies count. */
export type VisitReader = {
  /** Returns the client's address: the last one that is not a trusted proxy's. */
  readonly addressOf: (exchange: Exchange) => string
  /** Returns whether the visitor came over HTTPS, to this service or to a trusted proxy. */
  readonly isSecure: (exchange: Exchange) => boolean
  /** Returns what the visit's click is made from. */
  readonly rawVisitOf: (exchange: Exchange, atMicros: number) => RawVisit
}

export function visitReader(trustedProxies: Networks): VisitReader {
  function addressOf({ headers, remoteAddress }: Exchange): string {
    return clientAddress(remoteAddress, headers['x-forwarded-for'], trustedProxies)
  }

  function isSecure(exchange: Exchange): boolean {
    return arrivedSecurely(exchange, exchange.headers['x-forwarded-proto'], trustedProxies)
  }

  function rawVisitOf(exchange: Exchange, atMicros: number): RawVisit {
    const { headers, remoteAddress } = exchange
    return {
      at: atMicros,
      method: exchange.method,
      address: addressOf(exchange),
      isForwarded: hidesClient(remoteAddress, headers['x-forwarded-for'], trustedProxies),
      query: exchange.target.query,
      userAgent: headers['user-agent'],
      referer: headers.referer,
      acceptLanguage: headers['accept-language'],
      secPurpose: headers['sec-purpose'],
      purpose: headers.purpose,
      xPurpose: headers['x-purpose'],
      xMoz: headers['x-moz'],
    }
  }

  return { addressOf, isSecure, rawVisitOf }
}

/** On every answer to a visitor: not cached, not indexed. */
const COMMON_HEADERS: AnswerHeaders = {
  'Cache-Control': 'private, no-store',
  'X-Robots-Tag': 'noindex',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
}

const REDIRECT_HEADERS: AnswerHeaders = { ...COMMON_HEADERS, 'Content-Length': '0' }

/** Of hosts whose links search engines may list. */
const LISTED_REDIRECT_HEADERS: AnswerHeaders = {
  'Cache-Control': 'private, no-store',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Content-Length': '0',
}

/**
 * By the texts of a language. No cache keeps a page; `Vary` is for those that are configured to keep it anyway,
 * which must not show it to visitors with another language.
 */
const pageHeaders = new WeakMap<PageTexts, AnswerHeaders>()

/**
 * @param status 302 for a visit, 303 for the answer to a form
 * @param host that of the link, which says whether search engines may list it
 */
export function sendRedirect(
  exchange: Exchange,
  status: 302 | 303,
  location: string,
  extra: AnswerHeaders | undefined,
  host: LinkHost | undefined,
): void {
  const settings = host?.settings ?? null
  const isListed = settings !== null && settings.robots === 'index'
  const fixed = isListed ? LISTED_REDIRECT_HEADERS : REDIRECT_HEADERS
  exchange.answer(status, fixed, { Location: location, ...extra }, '')
}

/** Sends what a host serves in place of a link. */
export function sendFile(exchange: Exchange, file: HostFile, extra?: AnswerHeaders): void {
  const { headers, body } = file
  exchange.answer(200, headers, { 'Content-Length': String(body.length), ...extra }, body)
}

/** Sends a page in the visitor's language. */
export function sendPage(
  exchange: Exchange,
  status: number,
  page: VisitorPage,
  extra?: AnswerHeaders,
): void {
  const texts = preferredLanguage(exchange.headers['accept-language'], TEXTS, DEFAULT_TEXTS)
  const bytes = renderVisitorPage(page, texts, exchange.target)
  const own = { 'Content-Length': String(bytes.length), ...extra }
  exchange.answer(status, pageHeadersOf(texts), own, bytes)
}

function pageHeadersOf(texts: PageTexts): AnswerHeaders {
  let headers = pageHeaders.get(texts)
  if (headers === undefined) {
    headers = {
      ...COMMON_HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Language': texts.tag,
      Vary: 'Accept-Language',
      'Content-Security-Policy': PAGE_POLICY,
      'X-Content-Type-Options': 'nosniff',
    }
    pageHeaders.set(texts, headers)
  }
  return headers
}

/**
 * Answers every request for a link on a node that does not redirect, with "Misdirected Request" (RFC
 * 9110, section 15.5.20), which reveals nothing about the link.
 */
export function answerElsewhere(
  request: IncomingMessage,
  response: ServerResponse,
  target: RequestTarget,
): void {
  request.resume()
  sendPage(new HttpExchange(request, response, target), 421, { kind: 'elsewhere' })
}

/** The outcome of a visit. */
type VisitOutcome =
  /** Sent to the link's destination, and recorded as a click. */
  | 'redirected'
  /** Sent to the address that the domain or an expired link sets. */
  | 'fallback'
  /** Got what the domain serves in place of a link, such as `robots.txt`. */
  | 'document'
  | 'unknown_host'
  | 'not_found'
  | 'expired'
  /** 410: a link with a limit that has had all of its clicks. */
  | 'used_up'
  /** A program looked at a link with a limit, and got a page. */
  | 'previewed'
  /** 503: the last clicks of a link with a limit were held by other processes. */
  | 'limit_busy'
  | 'upcoming'
  /** 508: its destination leads back to it. */
  | 'loop'
  | 'password_asked'
  | 'password_wrong'
  | 'password_malformed'
  | 'password_throttled'
  /** 503: too many passwords were waiting to be checked. */
  | 'password_busy'
  | 'method_refused'
  /** 503: the link was not cached, and the store did not answer. */
  | 'unavailable'
  /** 500: an unexpected error. */
  | 'failed'
  /** The connection was closed during the answer. */
  | 'abandoned'

/** The outcome of decisions that are answered with the page of their name. */
export const PAGE_OUTCOMES = {
  'unknown-host': 'unknown_host',
  'not-found': 'not_found',
  upcoming: 'upcoming',
  expired: 'expired',
  'used-up': 'used_up',
  loop: 'loop',
} as const satisfies Record<string, VisitOutcome>

/** Counts visits by outcome, and measures how long their answers take. */
export class VisitMeter {
  /** From the request's head to the hand-over of the answer's last byte to the kernel, in seconds. */
  readonly latency = new Histogram(LATENCY_BOUNDS_SECONDS)
  /** Visits by outcome. */
  readonly counts: Record<VisitOutcome, number> = {
    redirected: 0,
    fallback: 0,
    document: 0,
    unknown_host: 0,
    not_found: 0,
    expired: 0,
    used_up: 0,
    previewed: 0,
    limit_busy: 0,
    upcoming: 0,
    loop: 0,
    password_asked: 0,
    password_wrong: 0,
    password_malformed: 0,
    password_throttled: 0,
    password_busy: 0,
    method_refused: 0,
    unavailable: 0,
    failed: 0,
    abandoned: 0,
  }

  /** @param startedMs when the request's head had been read, by `performance.now()` */
  count(outcome: VisitOutcome, startedMs: number): void {
    this.counts[outcome] += 1
    this.latency.observe((performance.now() - startedMs) / 1_000)
  }
}
