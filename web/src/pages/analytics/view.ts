import {
  type ClickScope,
  type Grouping,
  type Period,
  type ReportQuery,
  seriesRead,
  type ValueFilter,
} from '../../api/click-reads.ts'
import { browserTimeZone, dateIn, instantIn, minuteIn } from '../../text/time-zone.ts'
import {
  type AnalyticsSearch,
  type Comparison,
  filterOf,
  type Interval,
  type Measure,
  type PeriodName,
} from './analytics-search.ts'

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

const DAY_MS = 86_400_000
const QUARTER_MS = 900_000

/** An interval is offered for periods of this many days. */
const DAYS: Readonly<Record<Interval, readonly [min: number, max: number]>> = {
  hour: [0, 31],
  day: [2, 800],
  week: [14, 3_653],
  month: [60, 3_653],
}
/** Without a choice: the first interval that makes few enough points. */
const DAYS_BY_DEFAULT: readonly (readonly [Interval, number])[] = [
  ['hour', 2],
  ['day', 100],
  ['week', 400],
]

/** The period that is shown: the one of the address, or the last 30 days with today. */
export function periodOf(search: AnalyticsSearch, timezone: string, now: Date): Period {
  const { from, to, period = '30d' } = search
  if (from !== undefined && to !== undefined) return { from, to }
  return namedPeriod(period, dateIn(timezone, now))
}

function namedPeriod(name: PeriodName, today: string): Period {
  const to = addDays(today, 1)
  if (name === 'today') return { from: today, to }
  if (name === '12m') {
    const thisMonth = `${today.slice(0, 7)}-01`
    return { from: addMonths(thisMonth, -11), to: addMonths(thisMonth, 1) }
  }
  return { from: addDays(to, -Number.parseInt(name, 10)), to }
}

/** The period to compare with, as long as this one; undefined for none. */
export function comparedPeriod({ from, to }: Period, comparison: Comparison): Period | undefined {
  if (comparison === 'none') return undefined
  if (comparison === 'year') return { from: addMonths(from, -12), to: addMonths(to, -12) }
  if (isMonthStart(from) && isMonthStart(to)) {
    return { from: addMonths(from, -monthsBetween(from, to)), to: from }
  }
  return { from: addDays(from, -daysOf({ from, to })), to: from }
}

/**
 * As much of the compared period as has passed of the shown one, to a quarter hour: a day that is not over is compared
 * with as much of a day, by the clock of the time zone. So a day on which the clocks change is compared to the same time.
 */
export function elapsedPart(period: Period, compared: Period, timezone: string, now: Date): Period {
  const [fromMs, toMs] = [msOf(period.from, timezone), msOf(period.to, timezone)]
  if (now.getTime() >= toMs || now.getTime() <= fromMs) return compared
  const endMs = isDate(period.from)
    ? instantIn(
        timezone,
        shiftedMinute(period.from, compared.from, minuteIn(timezone, now)),
      ).getTime()
    : msOf(compared.from, timezone) + now.getTime() - fromMs
  const leastMs = msOf(compared.from, timezone) + QUARTER_MS
  const roundedMs = Math.floor(Math.max(endMs, leastMs) / QUARTER_MS) * QUARTER_MS
  if (roundedMs >= msOf(compared.to, timezone)) return compared
  return { from: compared.from, to: `${new Date(roundedMs).toISOString().slice(0, 19)}Z` }
}

/** A local minute as many days after one date as it is after another. */
function shiftedMinute(from: string, comparedFrom: string, minute: string): string {
  const days = daysOf({ from, to: minute.slice(0, 10) })
  return addDays(comparedFrom.slice(0, 10), days) + minute.slice(10)
}

/** The instant of a bound: dates begin at midnight of the time zone. */
function msOf(bound: string, timezone: string): number {
  return isDate(bound) ? instantIn(timezone, bound).getTime() : Date.parse(bound)
}

/** How many days a period has; a fraction for instants. */
function daysOf({ from, to }: Period): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS
}

/** The intervals that a period can be shown by. */
export function intervalsFor(period: Period, measure: Measure): readonly Interval[] {
  const days = daysOf(period)
  const names = Object.keys(DAYS) as Interval[]
  const fitting = names.filter((name) => days >= DAYS[name][0] && days <= DAYS[name][1])
  // Visitors are counted by day.
  if (measure === 'visitors') {
    const byDay = fitting.filter((name) => name !== 'hour')
    return byDay.length === 0 ? ['day'] : byDay
  }
  // Days, weeks and months begin with a date.
  return isDate(period.from) && isDate(period.to) ? fitting : ['hour']
}

/** The wanted interval, if the period can be shown by it. */
export function intervalOf(
  period: Period,
  wanted: Interval | undefined,
  measure: Measure,
): Interval {
  const fitting = intervalsFor(period, measure)
  const chosen = fitting.find((name) => name === wanted)
  if (chosen !== undefined) return chosen
  const days = daysOf(period)
  const preferred = DAYS_BY_DEFAULT.find(([, daysMax]) => days <= daysMax)?.[0] ?? 'month'
  return fitting.find((name) => name === preferred) ?? fitting[0] ?? 'day'
}

/** Adds days to a date or an instant, and keeps its form. */
export function addDays(bound: string, days: number): string {
  return formatLike(bound, Date.parse(bound) + days * DAY_MS)
}

/** The same day in another month, or its last day. */
function addMonths(bound: string, months: number): string {
  const date = new Date(bound)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  date.setUTCDate(Math.min(day, lastDay))
  return formatLike(bound, date.getTime())
}

function monthsBetween(from: string, to: string): number {
  const number = (date: string) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7))
  return number(to) - number(from)
}

function formatLike(bound: string, ms: number): string {
  const text = new Date(ms).toISOString()
  return isDate(bound) ? text.slice(0, 10) : `${text.slice(0, 19)}Z`
}

function isDate(bound: string): boolean {
  return bound.length === 10
}

function isMonthStart(bound: string): boolean {
  return isDate(bound) && bound.endsWith('-01')
}
