/** One visit that was answered with a link's destination. */
export type Click = {
  /** Microseconds since the epoch. */
  readonly at: number
  readonly link_seq: number
  /** Why it does not count as a person's click: a sum of `CLICK_FLAGS`, 0 for one that counts. */
  readonly flags: number
}

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
} as const

/** Takes clicks in, so that they outlive this process. */
export type ClickRecorder = {
  /**
   * Keeps `click` and calls `done` once a killed process can no longer lose it. Also calls `done`
   * when it could not be kept: a visitor is redirected all the same, and the loss is reported.
   */
  record(click: Click, done: () => void): void
}
