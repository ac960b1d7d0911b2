import { useNavigate } from '@tanstack/react-router'
import {
  type ClickScope,
  type Grouping,
  type Period,
  type ReportQuery,
  seriesQuery,
  type ValueFilter,
} from '../../api/clicks.ts'
import { useNow } from '../../widgets/Time.tsx'
import {
  type AnalyticsPageSearch,
  type AnalyticsSearch,
  filterOf,
  type Interval,
  type Measure,
} from './analytics-search.ts'
import { comparedPeriod, elapsedPart, intervalOf, periodOf } from './period.ts'

/** Everything that the parts of a page of analytics have in common. */
export type View = {
  readonly scope: ClickScope
  readonly search: AnalyticsSearch
  readonly filter: ValueFilter
  readonly timezone: string
  readonly period: Period
  /** The period to compare with. */
  readonly compared: Period | undefined
  /** As much of it as has passed of the shown one. */
  readonly elapsed: Period | undefined
  readonly interval: Interval
  readonly measure: Measure
  /** The zone of the line: visitors are counted by days of UTC. */
  readonly lineZone: string
  readonly now: Date
}

export function useView(scope: ClickScope, search: AnalyticsSearch): View {
  const now = useNow()
  const timezone = search.timezone ?? browserTimeZone()
  const period = periodOf(search, timezone, now)
  const measure = search.measure ?? 'clicks'
  const compared = comparedPeriod(period, search.compare ?? 'previous')
  return {
    scope,
    search,
    filter: filterOf(search),
    timezone,
    period,
    compared,
    elapsed: compared && elapsedPart(period, compared, now),
    interval: intervalOf(period, search.interval, measure),
    measure,
    lineZone: measure === 'visitors' ? 'UTC' : timezone,
    now,
  }
}

export function browserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The values of a grouping that are wanted alone. */
export function wantedOf({ filter, scope }: View, grouping: Grouping): readonly string[] {
  if (grouping === 'link') return scope.links
  return grouping === 'tag' ? scope.tags : (filter[grouping] ?? [])
}

/** What a report of the shown period is asked with. */
export function queryOf({ filter, period, timezone }: View, other: Period = period): ReportQuery {
  return { ...filter, ...other, timezone }
}

/** The numbers of the line, by hours or days: weeks and months are made of days. */
export function lineQuery(view: View, period: Period = view.period) {
  const query = { ...queryOf(view, period), timezone: view.lineZone }
  return seriesQuery(view.scope, { ...query, interval: view.interval === 'hour' ? 'hour' : 'day' })
}

/** Visitors by day. Where a part of a day of UTC is asked for, they are not known. */
export function visitorsQuery(view: View, period: Period = view.period) {
  const query = { ...queryOf(view, period), timezone: 'UTC' }
  return seriesQuery(view.scope, { ...query, interval: 'day' })
}

/** Changes the address; Back returns to what was shown before. */
export function useChange(): (change: Partial<AnalyticsPageSearch>) => void {
  const navigate = useNavigate()
  return (change) =>
    void navigate({
      to: '.',
      search: (before: object) => ({ ...before, ...change }),
      resetScroll: false,
    } as Parameters<typeof navigate>[0])
}
