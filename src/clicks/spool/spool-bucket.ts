import { dayOf } from '../tally/click-day.ts'

/**
 * The parts of a spool are sorted by bucket. Those with clicks are counted one bucket after the other, so that clicks
 * of the same days are counted together.
 */

/** The totals of links at the source: the opening balances are computed from them. They are never counted. */
export const TOTALS_BUCKET = 0
/** The opening balances. */
export const OPENING_BUCKET = 1
const FIRST_DAYS_BUCKET = 2

/**
 * With fewer days in a bucket, a transaction of the importer would write more rows; with more, a batch of clicks would
 * write to more files of days.
 */
const DAYS_PER_BUCKET = 8

/** Returns the bucket of a click. @param atMicros at least 0 */
export function bucketOf(atMicros: number): number {
  return FIRST_DAYS_BUCKET + Math.floor(dayOf(atMicros) / DAYS_PER_BUCKET)
}
