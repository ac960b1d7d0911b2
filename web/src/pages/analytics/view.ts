import {
  type ClickScope,
  type Grouping,
  type Period,
  type ReportQuery,
  seriesRead,
  type ValueFilter,
} from '../../api/click-reads.ts'
import { browserTimeZone } from '../../text/time-zone.ts'
import { type AnalyticsSearch, filterOf, type Interval, type Measure } from './analytics-search.ts'
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

export function viewOf(scope: ClickScope, search: AnalyticsSearch, now: Date): View {
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
    elapsed: compared && elapsedPart(period, compared, timezone, now),
    interval: intervalOf(period, search.interval, measure),
    measure,
    lineZone: measure === 'visitors' ? 'UTC' : timezone,
    now,
  }
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
export function lineOf(view: View, period: Period): Parameters<typeof seriesRead> {
  const query = { ...queryOf(view, period), timezone: view.lineZone }
  return [view.scope, { ...query, interval: view.interval === 'hour' ? 'hour' : 'day' }]
}

export function lineRead(view: View, period: Period = view.period) {
  return seriesRead(...lineOf(view, period))
}
