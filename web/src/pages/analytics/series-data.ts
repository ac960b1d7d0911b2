import type { Period } from '../../api/click-reads.ts'
import type { ClickSeries } from '../../api/clicks.ts'
import type { ChartFormats } from '../../text/chart-formats.ts'
import type { Catalogue } from '../../text/en.ts'
import type { Interval } from './analytics-search.ts'
import { type Bucket, cutsOf, progressOf, sumBuckets } from './buckets.ts'
import type { Cell } from './csv.ts'
import type { ReadOut } from './Plot.tsx'
import { addDays } from './period.ts'
import { changeOf } from './scale.ts'
import type { View } from './view.ts'

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
