import type { Store } from '../../storage/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { OPENING_DAY } from '../tally/click-day.ts'
import { type Rest, SUMS_MAX, ValueSums } from '../tally/value-sums.ts'
import { ValueTotals } from '../tally/values.ts'
import type { Bots } from './click-filter.ts'
import type { ClickScope, Counts } from './day-of-clicks.ts'
import type { DaySource } from './day-source.ts'
import type { Quarters } from './period.ts'
import { Series } from './series.ts'

/** The counts of one interval. */
export type Point = Counts & {
  /** The quarter hour at which the interval begins. */
  readonly start: number
  /** The sum of daily visitors, by UTC day; null if it cannot be determined. */
  readonly visitors: number | null
}

export type Group = Counts & {
  /** '' for an unknown value. */
  readonly value: string
  /** Undefined if no intervals were requested. */
  readonly points: readonly Omit<Point, 'visitors'>[] | undefined
}

export type Total = Counts & { readonly visitors: number | null }

/**
 * Counts the selected clicks of each interval.
 *
 * @param cuts the quarter hours at which the intervals begin, and the one at which the last ends
 */
export async function reportSeries(
  source: DaySource,
  { from, to }: Quarters,
  cuts: readonly number[],
): Promise<{ total: Total; points: readonly Point[] }> {
  const total = new Series([from, to])
  const series = new Series(cuts)
  for await (const day of source(cuts)) {
    total.addWithVisitors(day, day.wanted)
    series.addWithVisitors(day, day.wanted)
  }
  const points = series.points().map((point, nth) => ({ ...point, visitors: series.visitors(nth) }))
  return { total: totalOf(total), points }
}

/**
 * Counts the selected clicks by value, the values with most clicks first.
 *
 * @param cuts see `reportSeries`; undefined for groups without intervals
 * @param bots which clicks determine the order of the values
 * @param limit the number of values; `rest` is the sum of the others
 */
export async function reportGroups(
  source: DaySource,
  { from, to }: Quarters,
  cuts: readonly number[] | undefined,
  { bots, limit }: { readonly bots: Bots; readonly limit: number },
): Promise<{ total: Total; groups: readonly Group[]; rest: Rest }> {
  const total = new Series([from, to])
  const values = new ValueSums({ from, to }, bots)
  const totals = new ValueTotals()
  const move = () => totals.take((value, counts) => values.addCounts(value, counts))
  for await (const day of source([from, to], { totals })) {
    total.addWithVisitors(day, day.wanted)
    for (const [value, tally] of day.values) values.add(value, day.day, tally)
    if (totals.size > SUMS_MAX) move()
  }
  move()
  const { top, rest } = values.rank(limit)
  const series = cuts && (await seriesOf(source, cuts, new Set(top.map(([value]) => value))))
  const groups = top.map(([value, counts]) => {
    const points = series && (series.get(value) ?? new Series(cuts)).points()
    return { value, ...counts, points }
  })
  return { total: totalOf(total), groups, rest }
}

async function seriesOf(
  source: DaySource,
  cuts: readonly number[],
  values: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Series>> {
  const series = new Map([...values].map((value) => [value, new Series(cuts)]))
  for await (const day of source(cuts, { values })) {
    for (const [value, tally] of day.values) series.get(value)?.add(day.day, tally)
  }
  return series
}

function totalOf(series: Series): Total {
  return { ...series.counts(0), visitors: series.visitors(0) }
}

/** Returns how many clicks were imported without their dates. */
export async function readOpeningBalance(
  store: Store<{ readonly reports: Pick<ClickReports, 'readDays'> }>,
  scope: ClickScope,
): Promise<number> {
  const days = await store.read.reports.readDays(scope, OPENING_DAY, OPENING_DAY, { slots: false })
  return days[0]?.total.persons ?? 0
}
