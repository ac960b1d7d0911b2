import type { ClickReportResource } from '@terse/contract/clicks'
import type { SparklinesResource } from '@terse/contract/sparklines'
import { type Bots, weightOf } from './report/click-filter.ts'
import type { ClickReport, GroupedLink, Sparklines } from './report/clicks.ts'
import type { Counts } from './report/day-of-clicks.ts'
import { formatQuarters } from './report/intervals.ts'

/**
 * Converts a report to its API representation, with the counts that `bots` selects.
 *
 * @param counted_until as in the API
 */
export function presentReport(
  report: ClickReport,
  bots: Bots,
  counted_until: string | null,
): ClickReportResource {
  const { quarters, zone, interval, total, opening } = report
  const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
  const head = { from, to, timezone: zone, interval: interval ?? null, counted_until, opening }
  const totals = { clicks: total.persons, bots: total.others, visitors: total.visitors }

  if (report.groupBy === undefined) {
    const starts = startsOf(report.points, zone)
    const data = report.points.map((point, nth) => ({
      start: starts[nth] ?? '',
      ...presentCounts(point, bots),
      ...(bots !== 'only' && { visitors: point.visitors }),
    }))
    return { ...head, group_by: null, total: totals, data }
  }

  const starts = startsOf(report.groups[0]?.points ?? [], zone)
  const data = report.groups.map(({ value, points, ...counts }) => ({
    value: value === '' ? null : value,
    ...(report.groupBy === 'link' && { link: presentLink(report.links.get(value)) }),
    ...presentCounts(counts, bots),
    ...(points !== undefined && {
      points: points.map((point, nth) => ({
        start: starts[nth] ?? '',
        ...presentCounts(point, bots),
      })),
    }),
  }))
  const rest = { values: report.rest.values, ...presentCounts(report.rest, bots) }
  return { ...head, group_by: report.groupBy, total: totals, data, rest }
}

function presentLink(link: GroupedLink | undefined) {
  if (link === undefined) return null
  const { id, domain, key, url } = link
  return { id, domain, key, url }
}

export function presentSparklines(
  { quarters, zone, starts, links }: Sparklines,
  bots: Bots,
  counted_until: string | null,
): SparklinesResource {
  const [from = '', to = ''] = formatQuarters([quarters.from, quarters.to], zone)
  const data = links.map(({ id, points }) => {
    const clicks = points.map((point) => weightOf(point, bots))
    return { link_id: id, total: clicks.reduce((sum, count) => sum + count, 0), clicks }
  })
  const days = [...formatQuarters(starts, zone)]
  return { from, to, timezone: zone, counted_until, starts: days, data }
}

function startsOf(points: readonly { readonly start: number }[], zone: string): readonly string[] {
  return formatQuarters(
    points.map(({ start }) => start),
    zone,
  )
}

function presentCounts(
  { persons, others }: Counts,
  bots: Bots,
): { clicks?: number; bots?: number } {
  return {
    ...(bots !== 'only' && { clicks: persons }),
    ...(bots !== 'exclude' && { bots: others }),
  }
}
