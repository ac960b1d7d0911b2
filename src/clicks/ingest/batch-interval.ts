/** While more clicks come in a second, they wait for each other: a large batch writes fewer pages for each click. */
const GATHERING_RATE_MIN = 5_000
/** The oldest click is counted after this time: three seconds, and time to spare for a busy machine. */
const GATHERING_AGE_MS_MAX = 2_500
/** Of a batch's size, so that it has room for somewhat more clicks than before. */
const GATHERING_SHARE = 0.9
/** The time between two batches under less load. */
const LOAD_INTERVAL_MS = 400
/** Fewer clicks at a time are no load, and the next ones are counted at once. */
const LOAD_CLICKS_MIN = 100

/** What was counted at a time, in one batch or several. */
type Counted = {
  readonly clicks: number
  /** The time since the last clicks were read. */
  readonly sinceMs: number
  readonly storingMs: number
}

/**
 * Returns how long after the last clicks the next ones are read.
 *
 * @param clicksMax the number of clicks that a batch has at most
 */
export function batchIntervalMs(
  { clicks, sinceMs, storingMs }: Counted,
  clicksMax: number,
): number {
  if (clicks < LOAD_CLICKS_MIN) return 0
  const perMs = clicks / sinceMs
  if (perMs * 1_000 <= GATHERING_RATE_MIN) return LOAD_INTERVAL_MS
  // Storing takes in proportion to what comes until then.
  const untilOldMs = GATHERING_AGE_MS_MAX / (1 + storingMs / sinceMs)
  const untilFullMs = (GATHERING_SHARE * clicksMax) / perMs
  return Math.max(LOAD_INTERVAL_MS, Math.min(untilOldMs, untilFullMs))
}
