import type { Period } from '../../api/click-reads.ts'
import type { ClickPoint, ClickSeries } from '../../api/clicks.ts'
import type { ChartFormats } from '../../text/chart-formats.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Cell } from '../../widgets/save-file.ts'
import type { Interval, Measure } from './analytics-search.ts'
import type { ReadOut } from './Plot.tsx'
import { changeOf } from './scale.ts'
import { addDays, type View } from './view.ts'

/** The buckets of the shown period and of the one before it. */
export type SeriesData = {
  readonly buckets: readonly Bucket[]
  /** How many of them have begun. */
  readonly begun: number
  readonly isUnfinished: boolean
  readonly before: readonly Bucket[]
}

export function seriesData(
  series: ClickSeries,
  before: ClickSeries | undefined,
  view: View,
): SeriesData {
  const cuts = cutsOf(
    series.data.map(({ start }) => start),
    view.interval,
  )
  const buckets = sumBuckets(series.data, cuts)
  return {
    buckets,
    ...progressOf(buckets, series.to, view.now),
    before: before === undefined ? [] : sumBuckets(before.data, cuts),
  }
}

/** `24 Oct – 22 Nov` */
export function rangeText({ from, to }: Period, formats: ChartFormats): string {
  if (from.length > 10) return formats.hours(new Date(from), new Date(to))
  return formats.days(from, addDays(to, -1))
}

export function axisLabel(
  index: number,
  { buckets, begun, isUnfinished }: Pick<SeriesData, 'buckets' | 'begun' | 'isUnfinished'>,
  interval: Interval,
  formats: ChartFormats,
  t: Catalogue,
): string {
  const bucket = buckets[index]
  if (bucket === undefined) return ''
  const start = new Date(bucket.start)
  if (isUnfinished && index === begun - 1 && index === buckets.length - 1) {
    if (interval === 'day') return t.analytics.today
    if (interval === 'hour') return t.analytics.now
  }
  if (interval === 'hour') return buckets.length > 48 ? formats.day(start) : formats.hour(start)
  return interval === 'month' ? formats.month(start) : formats.day(start)
}

/** The name of a bucket in a sentence or a table. */
export function bucketName(start: string, interval: Interval, formats: ChartFormats): string {
  const instant = new Date(start)
  if (interval === 'hour') return formats.weekdayHour(instant)
  return interval === 'month' ? formats.month(instant) : formats.weekday(instant)
}

/** A number of a read-out, or that it is not known. */
export function knownText(value: number | null, formats: ChartFormats, t: Catalogue): string {
  return value === null ? t.analytics.unknown : formats.number(value)
}

export function readOut(
  index: number,
  { buckets, begun, before }: SeriesData,
  { measure, interval }: View,
  formats: ChartFormats,
  t: Catalogue,
): ReadOut {
  const bucket = buckets[index]
  const old = before[index]
  const value = bucket && index < begun ? bucket[measure] : undefined
  const oldValue = old?.[measure]
  const rows = []
  if (value !== undefined) {
    rows.push({
      look: 'cur',
      name: t.analytics.measures[measure],
      value: knownText(value, formats, t),
    })
  }
  if (old !== undefined && oldValue !== undefined) {
    const name = bucketName(old.start, interval, formats)
    rows.push({ look: 'prev', name, value: knownText(oldValue, formats, t) })
  }
  const ratio =
    typeof value === 'number' && typeof oldValue === 'number'
      ? changeOf(value, oldValue)
      : undefined
  return {
    title: bucket === undefined ? '' : bucketName(bucket.start, interval, formats),
    rows,
    ...(ratio !== undefined && {
      change: { name: t.analytics.change, value: formats.change(ratio), isRise: ratio >= 0 },
    }),
  }
}

export function csvRows({ buckets, begun, before }: SeriesData): readonly (readonly Cell[])[] {
  const names = ['start', 'clicks', 'visitors', 'bots']
  const head = before.length === 0 ? names : [...names, ...names.map((name) => `compared_${name}`)]
  const cells = (bucket: Bucket | undefined) =>
    bucket === undefined
      ? [null, null, null, null]
      : [bucket.start, bucket.clicks, bucket.visitors, bucket.bots]
  const rows = buckets
    .slice(0, begun)
    .map((bucket, nth) =>
      before.length === 0 ? cells(bucket) : [...cells(bucket), ...cells(before[nth])],
    )
  return [head, ...rows]
}

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
