import type { LinkDimension } from '../../links/index.ts'
import { yieldToEventLoop } from '../../platform/work/yield-to-event-loop.ts'
import { type Rest, ValueSums } from '../tally/value-sums.ts'
import type { Bots } from './click-filter.ts'
import type { Group, Total } from './click-report.ts'
import type { ClickScope } from './day-of-clicks.ts'
import type { Quarters } from './intervals.ts'
import { RawDays, type RawDaysContext } from './raw-days.ts'
import { Series } from './series.ts'

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
