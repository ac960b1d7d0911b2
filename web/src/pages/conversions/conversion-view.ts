import type { Period } from '../../api/click-reads.ts'
import { type groupsQuery, seriesQuery } from '../../api/clicks.ts'
import {
  type ConversionGroup,
  type ConversionGrouping,
  type ConversionInterval,
  type ConversionReportResource,
  type ConversionSums,
  conversionReportQuery,
} from '../../api/conversions.ts'
import type { Query } from '../../api/reads.ts'
import { type ConversionsSearch, scopeOf } from '../analytics/analytics-search.ts'
import { breakdownQuery } from '../analytics/groups.ts'
import { queryOf, type View, viewOf } from '../analytics/view.ts'

/** Everything that the parts of the page have in common. */
export type ConversionView = {
  /** Of the clicks to which conversions are compared. */
  readonly clicks: View
  readonly search: ConversionsSearch
  readonly interval: ConversionInterval
}

/** By what conversions and clicks are counted alike. */
export const RATED_GROUPINGS = [
  'link',
  'tag',
  'label',
  'rule',
  'variant',
  'country',
] as const satisfies readonly ConversionGrouping[]
type RatedGrouping = (typeof RATED_GROUPINGS)[number]

/** The unit of a chart that shows how many there are. */
export const COUNT = 'count'

export function conversionViewOf(search: ConversionsSearch, now: Date): ConversionView {
  const clicks = viewOf(scopeOf(search), search, now)
  const { interval } = clicks
  return { clicks, search, interval: interval === 'week' ? 'month' : interval }
}

/** Which conversions are shown. */
export function conversionFilter(
  { clicks, search }: ConversionView,
  period: Period = clicks.period,
): Query {
  const { link, tag, event, currency } = search
  return { ...queryOf(clicks, period), ...{ link, tag, event, currency } }
}

export function conversionLineQuery(view: ConversionView) {
  return conversionReportQuery({ ...conversionFilter(view), interval: view.interval })
}

/** The sums of another period, by month: the report with the fewest intervals. */
export function conversionTotalQuery(view: ConversionView, period: Period) {
  return conversionReportQuery({ ...conversionFilter(view, period), interval: 'month' })
}

/** The clicks that conversions came from, by the same intervals. */
export function clicksLineQuery({ clicks, interval }: ConversionView) {
  return seriesQuery(clicks.scope, { ...queryOf(clicks), interval })
}

/** The other values stay visible beside those that are set: a list is not filtered by itself. */
export function conversionGroupsQuery(
  view: ConversionView,
  grouping: ConversionGrouping,
  limit: number,
) {
  const { [grouping]: _, ...others } = conversionFilter(view)
  return conversionReportQuery({ ...others, group_by: grouping, limit })
}

/** What `limit` can be at most. */
export const CONVERSION_GROUPS_MAX = 1_000

export function isRated(grouping: ConversionGrouping): grouping is RatedGrouping {
  return RATED_GROUPINGS.some((one) => one === grouping)
}

/** The clicks of the values of a list. */
export function clicksOfGroupsQuery(
  { clicks }: ConversionView,
  grouping: RatedGrouping,
): ReturnType<typeof groupsQuery> {
  return breakdownQuery(clicks, grouping, CONVERSION_GROUPS_MAX)
}

/** The values by which a list is filtered. */
export function wantedValues(
  { search }: ConversionView,
  grouping: ConversionGrouping,
): readonly string[] {
  return isFilter(grouping) ? (search[grouping] ?? []) : []
}

const FILTERS = [...RATED_GROUPINGS, 'event', 'currency'] as const

/** UTM values are properties of links, by which conversions are grouped only. */
export function isFilter(grouping: ConversionGrouping): grouping is (typeof FILTERS)[number] {
  return FILTERS.some((one) => one === grouping)
}

/** The wanted unit where there are conversions in it; else the currency with the most conversions. */
export function unitOf({ unit }: ConversionsSearch, { values }: ConversionSums): string {
  const currencies = values.map(({ currency }) => currency)
  if (unit === COUNT || (unit !== undefined && currencies.includes(unit))) return unit
  return currencies[0] ?? COUNT
}

/** What sums amount to in a unit, without refunds and of refunds, which are 0 or negative. */
export type InUnit = { readonly gross: number; readonly refunded: number }

export function inUnit({ conversions, refunds, values }: ConversionSums, unit: string): InUnit {
  if (unit === COUNT) return { gross: conversions, refunded: -refunds }
  const amount = values.find(({ currency }) => currency === unit)
  if (amount === undefined) return { gross: 0, refunded: 0 }
  return { gross: amount.value - amount.refunded, refunded: amount.refunded }
}

/** Less refunds; of counts the refunds are not subtracted. */
export function netInUnit(sums: ConversionSums, unit: string): number {
  const { gross, refunded } = inUnit(sums, unit)
  return unit === COUNT ? gross : gross + refunded
}

export type ConversionPoint = NonNullable<ConversionReportResource['points']>[number]

/** Returns the clicks of each value of a list. */
export function clicksByValue(
  groups: readonly { readonly value: string | null; readonly clicks?: number | undefined }[],
): ReadonlyMap<string, number> {
  return new Map(groups.map(({ value, clicks = 0 }) => [value ?? '', clicks]))
}

/** As in a list, where '' stands for conversions without a value. */
export function keyOf({ value, link }: ConversionGroup): string {
  return link?.id ?? value ?? ''
}
