import type { Period } from '../../api/click-reads.ts'
import type { ClickPoint } from '../../api/clicks.ts'
import type { Interval, Measure } from './analytics-search.ts'

const DAY_MS = 86_400_000
/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const MONDAY_OFFSET = 3

/** One point of a line. */
export type Bucket = {
  /** As the API writes it: local time with its offset. */
  readonly start: string
  readonly clicks: number
  readonly bots: number
  /** Null where it cannot be computed. */
  readonly visitors: number | null
}

/** The indices at which buckets begin: each hour or day by itself, or the days of a week or month together. */
export function cutsOf(starts: readonly string[], interval: Interval): readonly number[] {
  if (interval === 'hour' || interval === 'day') return starts.map((_, nth) => nth)
  const keys = starts.map((start) => (interval === 'month' ? start.slice(0, 7) : weekOf(start)))
  return keys.flatMap((key, nth) => (key === keys[nth - 1] ? [] : [nth]))
}

/**
 * Adds points up to buckets. Points after the last cut belong to the last bucket, so the same cuts serve
 * a compared period, bucket by bucket with as many days.
 */
export function sumBuckets(points: readonly ClickPoint[], cuts: readonly number[]): Bucket[] {
  return cuts.flatMap((cut, nth) => {
    const part = points.slice(cut, cuts[nth + 1])
    const [first] = part
    if (first === undefined) return []
    return [part.reduce<Bucket>(add, { start: first.start, clicks: 0, bots: 0, visitors: 0 })]
  })
}

function add(sum: Bucket, { clicks = 0, bots = 0, visitors = null }: ClickPoint): Bucket {
  return {
    start: sum.start,
    clicks: sum.clicks + clicks,
    bots: sum.bots + bots,
    visitors: sum.visitors === null || visitors === null ? null : sum.visitors + visitors,
  }
}

/** How many buckets have begun, and whether the last of them is not over. */
export function progressOf(
  buckets: readonly Bucket[],
  end: string,
  now: Date,
): { readonly begun: number; readonly isUnfinished: boolean } {
  const begun = buckets.filter(({ start }) => Date.parse(start) <= now.getTime()).length
  const next = buckets[begun]?.start ?? end
  return { begun, isUnfinished: begun > 0 && now.getTime() < Date.parse(next) }
}

/** Whether a number is missing among those that have begun. */
export function isUnknown(buckets: readonly Bucket[], begun: number, measure: Measure): boolean {
  return buckets.slice(0, begun).some((bucket) => bucket[measure] === null)
}

/**
 * The period from one bucket to another, both included, in whichever order.
 *
 * @param end of the shown period, as it was requested
 */
export function zoomedPeriod(
  starts: readonly string[],
  end: string,
  [one, other]: readonly [number, number],
  interval: Interval,
): Period | undefined {
  const from = starts[Math.min(one, other)]
  const to = starts[Math.max(one, other) + 1]
  if (from === undefined) return undefined
  const write = interval === 'hour' ? instantOf : (start: string) => start.slice(0, 10)
  return { from: write(from), to: to === undefined ? end : write(to) }
}

function instantOf(start: string): string {
  return `${new Date(start).toISOString().slice(0, 19)}Z`
}

function weekOf(start: string): string {
  const day = Date.parse(start.slice(0, 10)) / DAY_MS
  return String(Math.floor((day + MONDAY_OFFSET) / 7))
}
