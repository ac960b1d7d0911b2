import type { Store } from '../../platform/database/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { Rest } from '../tally/value-sums.ts'
import { type Bots, weightOf } from './click-filter.ts'
import type { Group, Total } from './click-report.ts'
import type { Counts } from './day-of-clicks.ts'
import type { Quarters } from './intervals.ts'
import { readLinkSeries } from './sparklines.ts'

/**
 * Counts the clicks of a few links side by side, from their stored sums, those with most clicks first. A
 * person may have visited several of them, so their visitors together are unknown.
 *
 * @param cuts as of `reportGroups`
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
