import { yieldToEventLoop } from '../../platform/work/async.ts'
import type { Store } from '../../storage/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { planDays } from '../tally/day-tally.ts'
import type { Counts } from './day-of-clicks.ts'
import { Series } from './series.ts'

/** Links of one read: reading them takes a few milliseconds on the event loop. */
const LINKS_PER_READ = 10

/** The counts of a link in each interval. */
export type LinkSeries = { readonly linkSeq: number; readonly points: readonly Counts[] }

/**
 * Counts the clicks of links by interval, from their stored sums.
 *
 * @param cuts the quarter hours at which the intervals begin, and the one at which the last ends
 * @param signal ends the reading when it aborts
 */
export async function readLinkSeries(
  store: Store<{ readonly reports: Pick<ClickReports, 'readDaysOfLinks'> }>,
  linkSeqs: readonly number[],
  cuts: readonly number[],
  signal?: AbortSignal,
): Promise<readonly LinkSeries[]> {
  const found: LinkSeries[] = []
  for (let first = 0; first < linkSeqs.length; first += LINKS_PER_READ) {
    const some = linkSeqs.slice(first, first + LINKS_PER_READ)
    const series = new Map(some.map((linkSeq) => [linkSeq, new Series(cuts)]))
    for (const span of planDays(cuts, true)) {
      for (const [linkSeq, days] of await store.read.reports.readDaysOfLinks(some, span)) {
        for (const { day, total } of days) series.get(linkSeq)?.add(day, total)
      }
      await yieldToEventLoop(signal)
    }
    for (const [linkSeq, ofLink] of series) found.push({ linkSeq, points: ofLink.points() })
  }
  return found
}
