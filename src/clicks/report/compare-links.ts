import type { LinkDimension } from '../../links/index.ts'
import { yieldToEventLoop } from '../../platform/work/async.ts'
import type { Store } from '../../storage/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { type Rest, ValueSums } from '../tally/value-sums.ts'
import { type Bots, weightOf } from './click-filter.ts'
import type { Group, Total } from './click-report.ts'
import type { ClickScope, Counts } from './day-of-clicks.ts'
import { RawDays, type RawDaysContext } from './day-source.ts'
import type { Quarters } from './period.ts'
import { Series } from './series.ts'
import { readLinkSeries } from './sparklines.ts'

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

/**
 * Counts the clicks of a few links side by side, from their stored sums, those with most clicks
 * first. A person may have visited several of them, so their visitors together are unknown.
 *
 * @param cuts as in `reportGroups`
 */
export async function compareLinks(
  store: Store<{ readonly reports: Pick<ClickReports, 'readDaysOfLinks'> }>,
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
    return { value: id, ...sumOf(points), points: cuts && points }
  })
  groups.sort((a, b) => weightOf(b, bots) - weightOf(a, bots))
  const total = { ...sumOf(groups), visitors: null }
  return { total, groups, rest: { values: 0, persons: 0, others: 0 } }
}

function sumOf(counts: readonly Counts[]): Counts {
  return counts.reduce(
    (sum, { persons, others }) => ({
      persons: sum.persons + persons,
      others: sum.others + others,
    }),
    { persons: 0, others: 0 },
  )
}
