import { Histogram, LATENCY_BOUNDS_SECONDS } from '../platform/metrics/histogram.ts'

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

/** The status and the outcome of decisions that are answered with the page of their name. */
export const PAGE_ANSWERS = {
  'unknown-host': { status: 404, outcome: 'unknown_host' },
  'not-found': { status: 404, outcome: 'not_found' },
  upcoming: { status: 404, outcome: 'upcoming' },
  expired: { status: 410, outcome: 'expired' },
  'used-up': { status: 410, outcome: 'used_up' },
  loop: { status: 508, outcome: 'loop' },
} as const

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
