import type { LinkDimension } from '../../links/index.ts'
import { yieldToEventLoop } from '../../platform/work/async.ts'
import type { Store } from '../../storage/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { OPENING_DAY } from '../tally/click-day.ts'
import { type Rest, SUMS_MAX, ValueSums } from '../tally/value-sums.ts'
import { ValueTotals } from '../tally/values.ts'
import { type Bots, weightOf } from './click-filter.ts'
import { type ClickScope, type Counts, sumCounts } from './day-of-clicks.ts'
import { type DaySource, RawDays, type RawDaysContext, Series } from './day-source.ts'
import { planDays, type Quarters } from './period.ts'

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
    const { wanted } = day
    total.addWithVisitors(day, wanted)
    series.addWithVisitors(day, wanted)
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

/** Links whose values are looked up at once. */
const LINKS_PER_READ = 1_000

/** The value of links that have none. */
const UNKNOWN = ['']

type LinkGroupsQuery = {
  readonly scope: ClickScope
  readonly quarters: Quarters
  readonly groupBy: 'link' | LinkDimension
  readonly bots: Bots
  readonly limit: number
  readonly signal: AbortSignal | undefined
}

/**
 * Counts all clicks of a scope by link or by a value of the links, the values with most clicks first. The
 * database adds single clicks up by link, which costs a fraction of reading each of them.
 *
 * @param valuesOf returns the values of links, without those that have none
 * @throws {Failure} `validation_failed` if the single clicks are missing, too many, or take too long to read
 */
export async function reportLinkGroups(
  ctx: RawDaysContext,
  query: LinkGroupsQuery,
  valuesOf: (linkSeqs: readonly number[]) => Promise<ReadonlyMap<number, readonly string[]>>,
): Promise<{ total: Total; groups: readonly Group[]; rest: Rest }> {
  const { scope, quarters, groupBy, bots, limit, signal } = query
  const raw = new RawDays(ctx, query, new Set([groupBy]))
  const total = new Series([quarters.from, quarters.to])
  for (const day of await raw.count()) total.addWithVisitors(day, day.total)
  const { reports } = ctx.store.read
  const { byLink } = await raw.read(async (fromMicros, toMicros, limits) => {
    const sums = new Map<number, { persons: number; others: number }>()
    let visits = 0
    for await (const batch of reports.linkCounts(scope, fromMicros, toMicros, limits)) {
      for (const { linkSeq, persons, others } of batch) {
        visits += persons + others
        const sum = sums.get(linkSeq)
        if (sum === undefined) sums.set(linkSeq, { persons, others })
        else {
          sum.persons += persons
          sum.others += others
        }
      }
      await yieldToEventLoop(signal)
    }
    return { byLink: sums, visits }
  })
  const values = new ValueSums(quarters, bots)
  const links = [...byLink]
  for (let first = 0; first < links.length; first += LINKS_PER_READ) {
    const some = links.slice(first, first + LINKS_PER_READ)
    const found = await valuesOf(some.map(([linkSeq]) => linkSeq))
    for (const [linkSeq, counts] of some) {
      for (const value of found.get(linkSeq) ?? UNKNOWN) values.addCounts(value, counts)
    }
    await yieldToEventLoop(signal)
  }
  const { top, rest } = values.rank(limit)
  const groups = top.map(([value, counts]) => ({ value, ...counts, points: undefined }))
  return { total: { ...total.counts(0), visitors: total.visitors(0) }, groups, rest }
}

type SeriesStore = Store<{
  readonly reports: Pick<ClickReports, 'readDaysOfLinks' | 'daysPerRead'>
}>

/**
 * Counts the clicks of a few links side by side, from their stored sums, those with most clicks
 * first. A person may have visited several of them, so their visitors together are unknown.
 *
 * @param cuts as in `reportGroups`
 */
export async function compareLinks(
  store: SeriesStore,
  links: readonly { readonly id: string; readonly seq: number }[],
  { from, to }: Quarters,
  cuts: readonly number[] | undefined,
  { bots, signal }: { readonly bots: Bots; readonly signal: AbortSignal | undefined },
): Promise<{ total: Total; groups: readonly Group[]; rest: Rest }> {
  const bounds = cuts ?? [from, to]
  const seqs = links.map(({ seq }) => seq)
  const series = await readLinkSeries(store, seqs, bounds, signal)
  const bySeq = new Map(series.map(({ linkSeq, points }) => [linkSeq, points]))
  const groups = links.map(({ id, seq }): Group => {
    const points = (bySeq.get(seq) ?? []).map((point, nth) => ({
      ...point,
      start: bounds[nth] ?? from,
    }))
    return { value: id, ...sumCounts(points), points: cuts && points }
  })
  groups.sort((a, b) => weightOf(b, bots) - weightOf(a, bots))
  const total = { ...sumCounts(groups), visitors: null }
  return { total, groups, rest: { values: 0, persons: 0, others: 0 } }
}

/** Links of one read: reading them takes a few milliseconds on the event loop. */
const SERIES_PER_READ = 10

/** The counts of a link in each interval. */
type LinkSeries = { readonly linkSeq: number; readonly points: readonly Counts[] }

/**
 * Counts the clicks of links by interval, from their stored sums.
 *
 * @param cuts the quarter hours at which the intervals begin, and the one at which the last ends
 * @param signal ends the reading when it aborts
 */
export async function readLinkSeries(
  store: SeriesStore,
  linkSeqs: readonly number[],
  cuts: readonly number[],
  signal?: AbortSignal,
): Promise<readonly LinkSeries[]> {
  const found: LinkSeries[] = []
  for (let first = 0; first < linkSeqs.length; first += SERIES_PER_READ) {
    const some = linkSeqs.slice(first, first + SERIES_PER_READ)
    const series = new Map(some.map((linkSeq) => [linkSeq, new Series(cuts)]))
    const { reports } = store.read
    for (const span of planDays(cuts, true, reports.daysPerRead)) {
      for (const [linkSeq, days] of await reports.readDaysOfLinks(some, span)) {
        for (const { day, total } of days) series.get(linkSeq)?.add(day, total)
      }
      await yieldToEventLoop(signal)
    }
    for (const [linkSeq, ofLink] of series) found.push({ linkSeq, points: ofLink.points() })
  }
  return found
}
