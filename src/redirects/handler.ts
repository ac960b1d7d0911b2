import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type ClickLimits,
  type ClickMaker,
  type ClickRecorder,
  isPrefetch,
  parseUserAgent,
  type RawVisit,
  type TakeOutcome,
  type VisitorFacts,
} from '../clicks/index.ts'
import type { ServiceName } from '../hosts/index.ts'
import type { LinkHost } from '../links/index.ts'
import { isUnavailable } from '../platform/failure.ts'
import type { RequestTarget } from '../platform/http/request-target.ts'
import type { Throttles } from '../platform/limits/throttle.ts'
import type { Networks } from '../platform/network/ip-address.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import type { Clock } from '../platform/time/clock.ts'
import {
  type Decision,
  decide,
  decidePreview,
  limitedPreview,
  type RedirectDecision,
  statusOf,
  type Visit,
  whenUsedUp,
} from './decide.ts'
import {
  type AnswerHeaders,
  type Exchange,
  HttpExchange,
  PAGE_OUTCOMES,
  sendFile,
  sendPage,
  sendRedirect,
  VisitMeter,
  type VisitReader,
  visitReader,
} from './exchange.ts'
import type { FoundLink, VisitFinder } from './find-link.ts'
import { LoopDetector } from './loop-detector.ts'
import type { MachineVisits } from './machine-visits.ts'
import {
  type AttemptPassword,
  type FailedAttempt,
  type PasswordCookies,
  pageOfAttempt,
  passwordAttempts,
} from './password.ts'
import { RuleVisitor } from './rule-visitor.ts'
import type { VariantCookies } from './variant-cookies.ts'
import { locationWithToken, type MakeToken } from './visit-token.ts'

const RETRY_AFTER_SECONDS = 2

/** A visit that leads to the destination of a link with a limit, if there is a click left for it. */
type LimitedVisit = {
  readonly exchange: Exchange
  readonly found: FoundLink
  readonly decision: RedirectDecision
  readonly atMicros: number
  /** Whether a form was sent, which programs that check links do not do. */
  readonly isForm: boolean
  readonly respond: () => void
}

type RedirectParts = {
  readonly finder: Pick<VisitFinder, 'findHost' | 'findOn' | 'hostsVersion' | 'peekHost'>
  readonly recorder: ClickRecorder
  readonly makeClick: ClickMaker
  readonly limits: ClickLimits
  readonly machines: MachineVisits
  readonly vault: PasswordVault
  readonly cookies: PasswordCookies
  readonly variantCookies: VariantCookies
  readonly makeToken: MakeToken
  readonly visitorFacts: VisitorFacts
  readonly clock: Clock
  readonly throttles: Throttles
  readonly trustedProxies: Networks
  readonly service: ServiceName
  /** Where programs find what they show of links. */
  readonly oembedUrl: string
  /** The service's own host, which needs no look-up. */
  readonly serviceHostFor: (host: string) => LinkHost | undefined
  readonly onError: (error: unknown) => void
}

/** Answers visits to links: find, decide, record, respond. */
export class RedirectHandler {
  readonly meter = new VisitMeter()
  readonly #parts: RedirectParts
  readonly #reader: VisitReader
  readonly #attemptPassword: AttemptPassword
  readonly #loops: LoopDetector

  constructor(parts: RedirectParts) {
    this.#parts = parts
    this.#reader = visitReader(parts.trustedProxies)
    this.#attemptPassword = passwordAttempts(parts)
    this.#loops = new LoopDetector(parts)
  }

  /** Answers every request for a link, whatever its method. */
  readonly request = (
    request: IncomingMessage,
    response: ServerResponse,
    target: RequestTarget,
  ): void => {
    const exchange = new HttpExchange(request, response, target)
    if (request.method === 'POST') {
      this.#answerForm(exchange).catch((error) => this.#fail(exchange, error))
    } else if (request.method === 'GET' || request.method === 'HEAD') {
      this.visit(exchange)
    } else {
      this.#refuseMethod(exchange)
    }
  }

  /** Answers a `GET` or `HEAD`. */
  readonly visit = (exchange: Exchange): void => {
    try {
      const found = this.#find(exchange.target)
      if (found instanceof Promise) {
        found
          .then((loaded) => this.#answerVisit(exchange, loaded))
          .catch((error) => this.#fail(exchange, error))
      } else {
        this.#answerVisit(exchange, found)
      }
    } catch (error) {
      this.#fail(exchange, error)
    }
  }

  /** Without a promise where everything is cached, as it is for nearly every visit. */
  #find(target: RequestTarget): FoundLink | Promise<FoundLink> {
    const { finder, serviceHostFor } = this.#parts
    const host = serviceHostFor(target.host) ?? finder.findHost(target.host)
    return host instanceof Promise
      ? host.then((loaded) => finder.findOn(loaded, target))
      : finder.findOn(host, target)
  }

  #decide(
    exchange: Exchange,
    { host, link, isRoot, path, sets, labelParameter }: FoundLink,
    knowsPassword: boolean,
    atMicros: number,
  ): Decision {
    const visit = {
      host,
      isRoot,
      link,
      sets,
      path,
      device: parseUserAgent(exchange.headers['user-agent']).device,
      query: exchange.target.query,
      labelParameter,
      knowsPassword,
      isUsedUp: this.#isUsedUp,
      visitorOf: this.#visitorOf(exchange, atMicros),
    }
    return decide(visit, atMicros / 1000)
  }

  readonly #isUsedUp: Visit['isUsedUp'] & {} = (link) => this.#parts.limits.isUsedUp(link)

  #visitorOf(exchange: Exchange, atMicros: number): Visit['visitorOf'] {
    return ({ query, link }, label) => {
      const { visitorFacts, variantCookies } = this.#parts
      const { headers } = exchange
      const address = () => this.#reader.addressOf(exchange)
      const atMs = atMicros / 1000
      return new RuleVisitor({
        ...{ atMs, query, label, address },
        userAgent: headers['user-agent'],
        acceptLanguage: headers['accept-language'],
        referer: headers.referer,
        place: () => visitorFacts.place(address()),
        visitor: () => visitorFacts.visitor(address(), headers['user-agent'], atMicros),
        keptVariant: (rule) =>
          link && variantCookies.find({ linkSeq: link.seq, rule }, headers.cookie, atMs),
      })
    }
  }

  #answerVisit(exchange: Exchange, found: FoundLink): void {
    const { clock, cookies } = this.#parts
    const atMicros = clock.nowMicros()
    const { link, file } = found
    if (file !== undefined) {
      sendFile(exchange, file, this.#hstsOf(found, exchange))
      this.meter.count('document', exchange.startedMs)
      return
    }
    const knowsPassword =
      link !== undefined &&
      link.traits.password !== null &&
      cookies.accepts(link, exchange.headers.cookie, atMicros / 1000)
    const decision = this.#decide(exchange, found, knowsPassword, atMicros)
    if ('location' in decision && this.#loops.leadsHere(found, decision)) {
      this.#stopLoop(exchange, found, decision, atMicros)
        .then((settled) => this.#answer(exchange, found, settled, atMicros))
        .catch((error) => this.#fail(exchange, error))
    } else {
      this.#answer(exchange, found, decision, atMicros)
    }
  }

  /** Returns the decision, or that the redirect would lead in circles. */
  async #stopLoop(
    exchange: Exchange,
    found: FoundLink,
    decision: Decision,
    atMicros: number,
  ): Promise<Decision> {
    if (!('location' in decision)) return decision
    const { device } = parseUserAgent(exchange.headers['user-agent'])
    try {
      const visitor = { device, visitorOf: this.#visitorOf(exchange, atMicros) }
      const isLoop = await this.#loops.isLoop(found, decision, visitor, atMicros / 1000)
      return isLoop ? { kind: 'loop' } : decision
    } catch (error) {
      // What is cached is answered also while the database is down.
      if (!isUnavailable(error)) throw error
      return decision
    }
  }

  /** Journals the visit, then answers it. An answer that fails must not stop the others of its batch. */
  #record(
    exchange: Exchange,
    { link, outcome, label }: RedirectDecision,
    atMicros: number,
    respond: () => void,
  ): void {
    const visit = this.#reader.rawVisitOf(exchange, atMicros)
    const click = this.#parts.makeClick(link.seq, visit, outcome, label)
    this.#parts.recorder.record(click, () => this.#respond(exchange, respond))
  }

  #respond(exchange: Exchange, respond: () => void): void {
    try {
      respond()
    } catch (error) {
      this.#fail(exchange, error)
    }
  }

  /** Takes a click of the link's limit, journals the visit with it, then answers. Programs take none, and get a page. */
  #reserve(visit: LimitedVisit): void {
    const { exchange, decision, atMicros } = visit
    const { link } = decision
    const raw = this.#reader.rawVisitOf(exchange, atMicros)
    if (this.#isMachine(raw, link.seq, visit.isForm)) {
      this.#preview(visit, raw)
      return
    }
    const taken = this.#parts.limits.take({ seq: link.seq, maxClicks: link.traits.maxClicks ?? 0 })
    if (taken instanceof Promise) {
      taken
        .then((outcome) => this.#answerReserved(visit, raw, outcome))
        .catch((error) => this.#fail(exchange, error))
    } else {
      this.#answerReserved(visit, raw, taken)
    }
  }

  #isMachine(raw: RawVisit, linkSeq: number, isForm: boolean): boolean {
    const { machines, visitorFacts } = this.#parts
    if (isForm) return machines.saysSo(raw)
    const visitor = visitorFacts.visitor(raw.address, raw.userAgent, raw.at)
    return machines.isMachine(raw, linkSeq, visitor)
  }

  #preview({ exchange, found, decision, atMicros }: LimitedVisit, raw: RawVisit): void {
    const click = this.#parts.makeClick(
      decision.link.seq,
      raw,
      undefined,
      decision.label,
      'machine',
    )
    const preview = limitedPreview(decision, isPrefetch(raw))
    this.#parts.recorder.record(click, () =>
      this.#respond(exchange, () => this.#answer(exchange, found, preview, atMicros)),
    )
  }

  #answerReserved(visit: LimitedVisit, raw: RawVisit, outcome: TakeOutcome): void {
    const { exchange, found, decision, atMicros, respond } = visit
    const { link } = decision
    switch (outcome) {
      case 'unlimited':
        this.#record(exchange, decision, atMicros, respond)
        return
      case 'used-up':
        this.#answer(exchange, found, whenUsedUp(found.host, link), atMicros)
        return
      case 'busy':
        sendPage(exchange, 503, { kind: 'unavailable' }, retryAfter(RETRY_AFTER_SECONDS))
        this.meter.count('limit_busy', exchange.startedMs)
        return
      case 'taken': {
        const { limits, makeClick, recorder } = this.#parts
        const click = makeClick(link.seq, raw, decision.outcome, decision.label, 'taken')
        recorder.record(click, (isStored) => {
          if (isStored) {
            this.#respond(exchange, respond)
            return
          }
          // Nothing would tell that it was answered.
          limits.giveBack(link.seq)
          sendPage(exchange, 503, { kind: 'unavailable' }, retryAfter(RETRY_AFTER_SECONDS))
          this.meter.count('unavailable', exchange.startedMs)
        })
        return
      }
      default:
        outcome satisfies never
    }
  }

  #answer(exchange: Exchange, found: FoundLink, decision: Decision, atMicros: number): void {
    const hsts = this.#hstsOf(found, exchange)
    const { host } = found
    switch (decision.kind) {
      case 'redirect': {
        const preview = decidePreview(decision, exchange.headers['user-agent'])
        if (preview !== undefined) {
          const unruled = { ...decision, outcome: undefined }
          this.#record(exchange, unruled, atMicros, () =>
            this.#answer(exchange, found, preview, atMicros),
          )
          return
        }
        const respond = () => {
          const cookie = this.#variantCookie(exchange, decision, atMicros)
          const headers = cookie === undefined ? hsts : { ...hsts, 'Set-Cookie': cookie }
          const location = this.#locationOf(exchange, found, decision, atMicros)
          sendRedirect(exchange, 302, location, headers, host)
          this.meter.count('redirected', exchange.startedMs)
        }
        const { maxClicks } = decision.link.traits
        if (maxClicks === null) this.#record(exchange, decision, atMicros, respond)
        else this.#reserve({ exchange, found, decision, atMicros, isForm: false, respond })
        return
      }
      case 'fallback':
        sendRedirect(exchange, 302, decision.location, hsts, host)
        this.meter.count('fallback', exchange.startedMs)
        return
      case 'ask-password':
        sendPage(exchange, 200, { kind: 'password', isWrong: false }, hsts)
        this.meter.count('password_asked', exchange.startedMs)
        return
      case 'preview': {
        const { oembedUrl } = this.#parts
        sendPage(exchange, statusOf(decision), { ...decision, oembedUrl }, hsts)
        this.meter.count('previewed', exchange.startedMs)
        return
      }
      default:
        sendPage(exchange, statusOf(decision), decision, hsts)
        this.meter.count(PAGE_OUTCOMES[decision.kind], exchange.startedMs)
    }
  }

  /** Returns where a visitor is sent: with a token where conversions of the link are tracked. */
  #locationOf(
    exchange: Exchange,
    { tokenParameter }: FoundLink,
    decision: RedirectDecision,
    atMicros: number,
  ): string {
    if (tokenParameter === null) return decision.location
    const visitor = { atMicros, address: this.#reader.addressOf(exchange) }
    return locationWithToken(this.#parts, tokenParameter, decision, visitor)
  }

  /** Returns the cookie that keeps a variant, where the visitor has just got one that is to be kept. */
  #variantCookie(
    exchange: Exchange,
    { link, outcome }: RedirectDecision,
    atMicros: number,
  ): string | undefined {
    if (outcome === undefined || outcome.keepDays === 0) return undefined
    const { rule, variant, keepDays } = outcome
    const to = { path: exchange.target.path, secure: this.#reader.isSecure(exchange) }
    const kept = { variant, days: keepDays }
    const { variantCookies } = this.#parts
    const split = { linkSeq: link.seq, rule }
    return variantCookies.issue(split, kept, to, atMicros / 1000)
  }

  /** Sent only over HTTPS: browsers ignore the header otherwise (RFC 6797, section 8.1). */
  #hstsOf({ host }: FoundLink, exchange: Exchange): AnswerHeaders | undefined {
    const maxAge = host?.hstsMaxAge ?? null
    if (maxAge === null || !this.#reader.isSecure(exchange)) return undefined
    return { 'Strict-Transport-Security': `max-age=${maxAge}` }
  }

  /** Answers the password form that a visitor has sent. */
  async #answerForm(exchange: HttpExchange): Promise<void> {
    const { clock, cookies } = this.#parts
    const { request, target } = exchange
    const found = await this.#find(target)
    const requestedAt = clock.nowMicros()
    const decision = this.#decide(exchange, found, false, requestedAt)
    if (decision.kind !== 'ask-password') {
      request.resume()
      if (found.file !== undefined) this.#refuseMethod(exchange)
      else if (decision.kind !== 'redirect') this.#answer(exchange, found, decision, requestedAt)
      else if (decision.link.traits.maxClicks === null) this.#refuseMethod(exchange)
      else await this.#passForm(exchange, found, decision, requestedAt)
      return
    }
    const { link, password } = decision
    const address = this.#reader.addressOf(exchange)
    const attempt = await this.#attemptPassword(request, address, { seq: link.seq, password })
    if (attempt.kind !== 'right') {
      this.#refuseAttempt(exchange, attempt)
      return
    }
    const verifiedAt = clock.nowMicros()
    const isSecure = this.#reader.isSecure(exchange)
    const cookie = cookies.issue(link, target.path, isSecure, verifiedAt / 1000)
    const decided = this.#decide(exchange, found, true, verifiedAt)
    await this.#passForm(exchange, found, decided, verifiedAt, cookie)
  }

  /** Answers a form that leads to the destination. */
  async #passForm(
    exchange: HttpExchange,
    found: FoundLink,
    decided: Decision,
    atMicros: number,
    cookie?: string,
  ): Promise<void> {
    const decision = await this.#stopLoop(exchange, found, decided, atMicros)
    if (decision.kind !== 'redirect') {
      this.#answer(exchange, found, decision, atMicros)
      return
    }
    const respond = () => {
      for (const each of [cookie, this.#variantCookie(exchange, decision, atMicros)]) {
        if (each !== undefined) exchange.response.appendHeader('Set-Cookie', each)
      }
      const location = this.#locationOf(exchange, found, decision, atMicros)
      sendRedirect(exchange, 303, location, this.#hstsOf(found, exchange), found.host)
      this.meter.count('redirected', exchange.startedMs)
    }
    if (decision.link.traits.maxClicks === null) this.#record(exchange, decision, atMicros, respond)
    else this.#reserve({ exchange, found, decision, atMicros, isForm: true, respond })
  }

  #refuseAttempt(exchange: HttpExchange, attempt: FailedAttempt): void {
    const { status, page, outcome } = pageOfAttempt(attempt)
    const headers = 'waitSeconds' in page ? retryAfter(page.waitSeconds) : undefined
    sendPage(exchange, status, page, headers)
    this.meter.count(outcome, exchange.startedMs)
  }

  #refuseMethod(exchange: HttpExchange): void {
    exchange.request.resume()
    sendPage(exchange, 405, { kind: 'invalid-request' }, { Allow: 'GET, HEAD' })
    this.meter.count('method_refused', exchange.startedMs)
  }

  #fail(exchange: Exchange, error: unknown): void {
    const isExpected = isUnavailable(error)
    if (!isExpected) this.#parts.onError(error)
    if (exchange.isAnswered) {
      exchange.abandon()
      this.meter.count('abandoned', exchange.startedMs)
    } else {
      const headers = retryAfter(RETRY_AFTER_SECONDS)
      sendPage(exchange, isExpected ? 503 : 500, { kind: 'unavailable' }, headers)
      this.meter.count(isExpected ? 'unavailable' : 'failed', exchange.startedMs)
    }
  }
}

function retryAfter(waitSeconds: number): AnswerHeaders {
  return { 'Retry-After': String(waitSeconds) }
}
