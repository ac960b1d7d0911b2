/**
 * A visit that was answered with a link's destination, or several of them beyond the cap. Neither the visitor's address nor the whole
 * user agent is part of it, so that neither is ever stored.
 */
export type Click = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly link_seq: number
  /** Why it does not count as a person's click: a sum of `CLICK_FLAGS`, 0 for one that counts. */
  readonly flags: number
  /** Visits that this stands for: 1, or more where `flags` is `CLICK_FLAGS.capped`. */
  readonly count: number
  /** The same for all visits of one visitor on one UTC day, and on no other; a safe integer. */
  readonly visitor: number
  /** ISO 3166-1 alpha-2, as in `DE`; '' where unknown. */
  readonly country: string
  /** `desktop`, `mobile`, `tablet`, `tv`, …; '' where unknown. */
  readonly device: string
  /** As in `iOS`, `Windows`; '' where unknown. */
  readonly os: string
  /** As in `Safari`, `Chrome`; '' where unknown. */
  readonly browser: string
  /** The host of the page that the visitor came from, in lower case; '' for none. */
  readonly referrer: string
  /** The primary subtag of the language that the visitor likes best, as in `de`; '' for none. */
  readonly language: string
  /** `qr` for a visit by a tracked QR code, else `direct`. */
  readonly source: string
}

/** What clicks can be grouped and filtered by. Each value is ASCII and at most 253 characters long. */
export const CLICK_DIMENSIONS = [
  'country',
  'device',
  'os',
  'browser',
  'referrer',
  'language',
  'source',
] as const satisfies readonly (keyof Click)[]

export type ClickDimension = (typeof CLICK_DIMENSIONS)[number]

/** What keeps a visit out of `clicks`. */
export const CLICK_FLAGS = {
  /** A known bot, by its user agent. */
  bot: 1,
  /** A browser that fetched ahead of a person's wish. */
  prefetch: 2,
  /** A HEAD request. */
  head: 4,
  /** A request without a user agent. */
  noUserAgent: 8,
  /**
   * Beyond the cap on clicks of one address on one link in one minute. Such a click has this flag
   * alone, and neither visitor nor values: only how many there were is kept.
   */
  capped: 16,
} as const

/** @param count of clicks on the link within the minute of `at` */
export function cappedClick(link_seq: number, at: number, count: number): Click {
  return {
    at,
    link_seq,
    flags: CLICK_FLAGS.capped,
    count,
    visitor: 0,
    country: '',
    device: '',
    os: '',
    browser: '',
    referrer: '',
    language: '',
    source: '',
  }
}

/** Visits that clicks stand for, all together. */
export function countVisits(clicks: readonly Click[]): number {
  return clicks.reduce((sum, { count }) => sum + count, 0)
}

/** Takes clicks in, so that they outlive this process. */
export type ClickRecorder = {
  /**
   * Keeps `click` and calls `done` once a killed process can no longer lose it. Also calls `done`
   * when it could not be kept: a visitor is redirected all the same, and the loss is reported.
   */
  record(click: Click, done: () => void): void
}
