import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClickRecorder } from '../clicks/click.ts'
import { factsOfAgent } from '../clicks/record/agent.ts'
import type { ClickMaker } from '../clicks/record/click-maker.ts'
import type { LinkHost } from '../links/link-directory.ts'
import type { PasswordVault } from '../links/password-vault.ts'
import { keyOfPath } from '../links/visit-key.ts'
import { isUnavailable } from '../platform/failure.ts'
import type { RequestTarget } from '../platform/http/request-target.ts'
import type { Throttles } from '../platform/limits/throttles.ts'
import type { Networks } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type Decision, decide } from './decide.ts'
import { type AnswerHeaders, type Exchange, HttpExchange } from './exchange.ts'
import type { LinkFinder } from './find-link.ts'
import {
  busyPage,
  EXPIRED_PAGE,
  INVALID_REQUEST_PAGE,
  NOT_FOUND_PAGE,
  passwordPage,
  tooManyAttemptsPage,
  UNAVAILABLE_PAGE,
  unknownHostPage,
} from './pages/visitor-pages.ts'
import { type FailedAttempt, passwordAttempts } from './password-attempts.ts'
import type { PasswordCookies } from './password-cookie.ts'
import type { PreparedLink } from './prepared-link.ts'
import { sendPage, sendRedirect } from './respond.ts'
import { VisitMeter } from './visit-meter.ts'
import { visitReader } from './visit-reader.ts'

const RETRY_AFTER_SECONDS = 2

type FoundLink = { readonly host: LinkHost | undefined; readonly link: PreparedLink | undefined }

export type RedirectHandler = {
  /** Answers whatever is asked of a link. */
  request(request: IncomingMessage, response: ServerResponse, target: RequestTarget): void
  /** Answers a `GET` or `HEAD`. */
  visit(exchange: Exchange): void
  readonly meter: VisitMeter
}

/** Answers visits to links: find, decide, record, respond. */
export function redirectHandler(deps: {
  finder: Pick<LinkFinder, 'findHost' | 'findLink'>
  recorder: ClickRecorder
  makeClick: ClickMaker
  vault: PasswordVault
  cookies: PasswordCookies
  clock: Clock
  throttles: Throttles
  trustedProxies: Networks
  /** The service's own host, which needs no look-up. */
  serviceHostFor: (host: string) => LinkHost | undefined
  onError: (error: unknown) => void
}): RedirectHandler {
  const { finder, clock } = deps
  const meter = new VisitMeter()
  const { addressOf, isSecure, rawVisitOf } = visitReader(deps.trustedProxies)
  const attemptPassword = passwordAttempts(deps)

  /** At once where everything is in memory, which is the way of nearly every visit. */
  function find({ host: name, path }: RequestTarget): FoundLink | Promise<FoundLink> {
    const host = deps.serviceHostFor(name) ?? finder.findHost(name)
    return host instanceof Promise
      ? host.then((loaded) => findOn(loaded, path))
      : findOn(host, path)
  }

  function findOn(host: LinkHost | undefined, path: string): FoundLink | Promise<FoundLink> {
    const key = path === '/' ? undefined : keyOfPath(path)
    if (host === undefined || key === undefined) return { host, link: undefined }
    const link = finder.findLink(host.keyspaceId, key)
    return link instanceof Promise
      ? link.then((loaded) => ({ host, link: loaded }))
      : { host, link }
  }

  function decideFor(
    exchange: Exchange,
    { host, link }: FoundLink,
    knowsPassword: boolean,
    atMicros: number,
  ): Decision {
    const visit = {
      host,
      isRoot: exchange.target.path === '/',
      link,
      device: factsOfAgent(exchange.headers['user-agent']).device,
      query: exchange.target.query,
      knowsPassword,
    }
    return decide(visit, atMicros / 1000)
  }

  function answerVisit(exchange: Exchange, found: FoundLink): void {
    const atMicros = clock.nowMicros()
    const { link } = found
    const knowsPassword =
      link !== undefined &&
      link.password !== null &&
      deps.cookies.accepts(link, exchange.headers.cookie, atMicros / 1000)
    answer(exchange, found, decideFor(exchange, found, knowsPassword, atMicros), atMicros)
  }

  /** Journals the visit, then answers it. An answer that fails must not stop those beside it. */
  function record(
    exchange: Exchange,
    link: PreparedLink,
    atMicros: number,
    respond: () => void,
  ): void {
    const click = deps.makeClick(link.seq, rawVisitOf(exchange, atMicros))
    deps.recorder.record(click, () => {
      try {
        respond()
      } catch (error) {
        fail(exchange, error)
      }
    })
  }

  function answer(
    exchange: Exchange,
    found: FoundLink,
    decision: Decision,
    atMicros: number,
  ): void {
    const hsts = hstsOf(found, exchange)
    switch (decision.kind) {
      case 'redirect':
        record(exchange, decision.link, atMicros, () => {
          sendRedirect(exchange, 302, decision.location, hsts)
          meter.count('redirected', exchange.startedMs)
        })
        return
      case 'fallback':
        sendRedirect(exchange, 302, decision.location, hsts)
        meter.count('fallback', exchange.startedMs)
        return
      case 'ask-password':
        sendPage(exchange, 200, passwordPage(false), hsts)
        meter.count('password_asked', exchange.startedMs)
        return
      case 'unknown-host':
        sendPage(exchange, 404, unknownHostPage(exchange.target.host))
        meter.count('unknown_host', exchange.startedMs)
        return
      case 'not-found':
        sendPage(exchange, 404, NOT_FOUND_PAGE, hsts)
        meter.count('not_found', exchange.startedMs)
        return
      case 'expired':
        sendPage(exchange, 410, EXPIRED_PAGE, hsts)
        meter.count('expired', exchange.startedMs)
        return
      default:
        decision satisfies never
    }
  }

  /** Browsers take the wish for HTTPS from HTTPS alone (RFC 6797, section 7.2). */
  function hstsOf({ host }: FoundLink, exchange: Exchange): AnswerHeaders | undefined {
    const maxAge = host?.hstsMaxAge ?? null
    if (maxAge === null || !isSecure(exchange)) return undefined
    return { 'Strict-Transport-Security': `max-age=${maxAge}` }
  }

  /** The answer to the password form. */
  async function answerForm(exchange: HttpExchange): Promise<void> {
    const { request, target } = exchange
    const found = await find(target)
    const askedAt = clock.nowMicros()
    const decision = decideFor(exchange, found, false, askedAt)
    if (decision.kind !== 'ask-password') {
      request.resume()
      if (decision.kind === 'redirect') sendMethodNotAllowed(exchange)
      else answer(exchange, found, decision, askedAt)
      return
    }
    const { link, password } = decision
    const attempted = { seq: link.seq, password }
    const attempt = await attemptPassword(request, addressOf(exchange), attempted)
    if (attempt.kind !== 'right') {
      refuseAttempt(exchange, attempt)
      return
    }
    const verifiedAt = clock.nowMicros()
    const cookie = deps.cookies.issue(link, target.path, isSecure(exchange), verifiedAt / 1000)
    const passed = decideFor(exchange, found, true, verifiedAt)
    if (passed.kind !== 'redirect') {
      answer(exchange, found, passed, verifiedAt)
      return
    }
    record(exchange, link, verifiedAt, () => {
      sendRedirect(exchange, 303, passed.location, {
        'Set-Cookie': cookie,
        ...hstsOf(found, exchange),
      })
      meter.count('redirected', exchange.startedMs)
    })
  }

  function refuseAttempt(exchange: HttpExchange, attempt: FailedAttempt): void {
    switch (attempt.kind) {
      case 'throttled': {
        const retry = { 'Retry-After': String(attempt.waitSeconds) }
        sendPage(exchange, 429, tooManyAttemptsPage(attempt.waitSeconds), retry)
        meter.count('password_throttled', exchange.startedMs)
        return
      }
      case 'busy': {
        const retry = { 'Retry-After': String(attempt.waitSeconds) }
        sendPage(exchange, 503, busyPage(attempt.waitSeconds), retry)
        meter.count('password_busy', exchange.startedMs)
        return
      }
      case 'malformed':
        sendPage(exchange, 400, INVALID_REQUEST_PAGE)
        meter.count('password_malformed', exchange.startedMs)
        return
      case 'wrong':
        sendPage(exchange, 403, passwordPage(true))
        meter.count('password_wrong', exchange.startedMs)
        return
      default:
        attempt satisfies never
    }
  }

  function sendMethodNotAllowed(exchange: HttpExchange): void {
    exchange.request.resume()
    sendPage(exchange, 405, INVALID_REQUEST_PAGE, { Allow: 'GET, HEAD' })
    meter.count('method_refused', exchange.startedMs)
  }

  function fail(exchange: Exchange, error: unknown): void {
    const expected = isUnavailable(error)
    if (!expected) deps.onError(error)
    if (exchange.isAnswered) {
      exchange.abandon()
      meter.count('abandoned', exchange.startedMs)
    } else {
      const retry = { 'Retry-After': String(RETRY_AFTER_SECONDS) }
      sendPage(exchange, expected ? 503 : 500, UNAVAILABLE_PAGE, retry)
      meter.count(expected ? 'unavailable' : 'failed', exchange.startedMs)
    }
  }

  function visit(exchange: Exchange): void {
    try {
      const found = find(exchange.target)
      if (found instanceof Promise) {
        found
          .then((loaded) => answerVisit(exchange, loaded))
          .catch((error) => fail(exchange, error))
      } else {
        answerVisit(exchange, found)
      }
    } catch (error) {
      fail(exchange, error)
    }
  }

  return {
    meter,
    visit,
    request(request, response, target) {
      const exchange = new HttpExchange(request, response, target)
      if (request.method === 'POST') {
        answerForm(exchange).catch((error) => fail(exchange, error))
      } else if (request.method === 'GET' || request.method === 'HEAD') {
        visit(exchange)
      } else {
        sendMethodNotAllowed(exchange)
      }
    },
  }
}
