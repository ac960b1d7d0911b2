import type { Period } from '../../api/click-reads.ts'
import { dateIn, instantIn, minuteIn } from '../../text/time-zone.ts'
import type {
  AnalyticsSearch,
  Comparison,
  Interval,
  Measure,
  PeriodName,
} from './analytics-search.ts'

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
