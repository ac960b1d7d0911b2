import type { Fault } from '@terse/contract/faults'
import { Failure, type FaultList, type Parsed } from '../../platform/failure.ts'

/** Names of the tz database. Temporal also accepts offsets and instants, which are not allowed here. */
const NAME = /^[a-z][a-z0-9._+-]*(\/[a-z0-9._+-]+)*$/i

/** Parses the name of an IANA time zone and corrects its letter case. */
function parseTimeZone(text: string): Parsed<string> {
  const fault = { code: 'invalid_time_zone' } as const
  if (!NAME.test(text)) return { fault }
  try {
    return { value: new Temporal.ZonedDateTime(0n, text).timeZoneId }
  } catch {
    return { fault }
  }
}

/** A time span with a constant offset from UTC. */
type OffsetSpan = { readonly fromMs: number; readonly offsetMs: number }

/**
 * Returns the offset spans of a zone from `fromMs` to `toMs`. The first begins at `fromMs`, each further one
 * at a clock change, such as for summer time.
 */
function offsetSpans(zone: string, fromMs: number, toMs: number): readonly OffsetSpan[] {
  const spans: OffsetSpan[] = []
  let at: Temporal.ZonedDateTime | null =
    Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(zone)
  while (at !== null && at.epochMilliseconds < toMs) {
    spans.push({ fromMs: at.epochMilliseconds, offsetMs: at.offsetNanoseconds / 1_000_000 })
    at = at.getTimeZoneTransition('next')
  }
  return spans
}

const DAYS_BY_DEFAULT = 30
/** Ten years with their leap days. */
const PERIOD_DAYS_MAX = 3_653
const PERIOD_MICROS_MAX = PERIOD_DAYS_MAX * 86_400_000_000
/** No click is older; later, microseconds approach the limit of a double's integer range. */
const YEAR_MIN = 2000
const YEAR_MAX = 2199

export type PeriodInput = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly timezone?: string | undefined
}

/** The period of a query, and the time zone of its days. */
export type Period = {
  /** Microseconds since the epoch, included. */
  readonly fromMicros: number
  /** Microseconds since the epoch, excluded. */
  readonly toMicros: number
  readonly zone: string
}

/**
 * Parses a period. Without `from` and `to` it is the last `daysByDefault` days in the time zone, today included. Adds
 * faults to the list, and returns undefined if there are any.
 */
export function parsePeriod(
  input: PeriodInput,
  nowMicros: number,
  faults: FaultList,
  daysByDefault = DAYS_BY_DEFAULT,
): Period | undefined {
  const zone = faults.take('timezone', parseTimeZone(input.timezone ?? 'UTC'))
  /** Returns null if the field is omitted. */
  const take = (field: 'from' | 'to') => {
    const text = input[field]
    return text === undefined ? null : faults.take(field, parseBound(text, zone ?? 'UTC'))
  }
  const from = take('from')
  const to = take('to')
  if (zone === undefined || from === undefined || to === undefined) return undefined

  // Excluded bounds end after the current microsecond, so that clicks of this moment are included.
  const toMicros = to ?? nowMicros + 1
  const fromMicros = from ?? startOfDefault(toMicros, zone, daysByDefault)
  if (fromMicros >= toMicros) {
    const reason = input.to === undefined ? 'future' : 'reversed'
    faults.add('from', { code: 'invalid_period', reason })
    return undefined
  }
  if (toMicros - fromMicros > PERIOD_MICROS_MAX) {
    faults.add('from', { code: 'invalid_period', reason: 'too_long', max: PERIOD_DAYS_MAX })
    return undefined
  }
  return { fromMicros, toMicros, zone }
}

/** Parses a date, which means the beginning of that day in the zone, or an instant. */
function parseBound(text: string, zone: string): Parsed<number> {
  const instant = readBound(text, zone)
  if (instant === undefined) return { fault: { code: 'invalid_date' } }
  const { year } = instant.toZonedDateTimeISO('UTC')
  return year >= YEAR_MIN && year <= YEAR_MAX
    ? { value: microsOf(instant) }
    : { fault: { code: 'invalid_period', reason: 'year', min: YEAR_MIN, max: YEAR_MAX } }
}

function readBound(text: string, zone: string): Temporal.Instant | undefined {
  try {
    return /^\d{4}-\d\d-\d\d$/.test(text)
      ? Temporal.PlainDate.from(text).toZonedDateTime(zone).toInstant()
      : Temporal.Instant.from(text)
  } catch {
    return undefined
  }
}

/** Returns the beginning of the first of the days, the last of which contains or ends at `toMicros`. */
function startOfDefault(toMicros: number, zone: string, days: number): number {
  const end = Temporal.Instant.fromEpochNanoseconds(BigInt(toMicros - 1) * 1_000n)
  const first = end
    .toZonedDateTimeISO(zone)
    .toPlainDate()
    .subtract({ days: days - 1 })
  return microsOf(first.toZonedDateTime(zone).toInstant())
}

/** Truncates to microseconds. */
function microsOf(instant: Temporal.Instant): number {
  return Number(instant.epochNanoseconds / 1_000n)
}

export const INTERVALS = ['hour', 'day', 'month'] as const

export type Interval = (typeof INTERVALS)[number]

/** Clicks are counted by quarter hour; here quarter hours are numbered from the epoch. */
export const QUARTERS_PER_DAY = 96
const QUARTER_MS = 900_000
export const QUARTER_MICROS = QUARTER_MS * 1_000

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A period in quarter hours: `from` is included, `to` is excluded. */
export type Quarters = { readonly from: number; readonly to: number }

/** Returns the quarter hours that overlap a period. */
export function quartersOf({ fromMicros, toMicros }: Omit<Period, 'zone'>): Quarters {
  return {
    from: Math.floor(fromMicros / QUARTER_MICROS),
    to: Math.ceil(toMicros / QUARTER_MICROS),
  }
}

/**
 * Returns the boundaries of the intervals in a time zone, as quarter hours: `from`, the start of each further
 * interval, and `to`. The first and the last interval may be shortened by `from` and `to`.
 *
 * Days and months begin with the first moment of their date, even when clocks change. An hour begins at each
 * full hour of local time, and at each clock change.
 */
export function cutsOf(
  { from, to }: Quarters,
  zone: string,
  interval: Interval,
): readonly number[] {
  const toMs = to * QUARTER_MS
  const spans = offsetSpans(zone, from * QUARTER_MS, toMs)
  const cuts = [from]
  const cutAt = (ms: number) => {
    // Until 2022 some clocks changed within a quarter hour.
    const quarter = Math.floor(ms / QUARTER_MS)
    if (quarter > (cuts.at(-1) ?? from) && quarter < to) cuts.push(quarter)
  }
  let latest = dateOf(spans[0], from * QUARTER_MS, interval)
  for (const [nth, span] of spans.entries()) {
    const endMs = spans[nth + 1]?.fromMs ?? toMs
    const stepMs = interval === 'hour' ? HOUR_MS : DAY_MS
    for (let ms = span.fromMs; ms < endMs; ms = nextLocal(ms, span, stepMs)) {
      const date = dateOf(span, ms, interval)
      // When clocks are set back over midnight a date repeats, but it began only once.
      if (interval !== 'hour' && date <= latest) continue
      latest = date
      cutAt(ms)
    }
  }
  return [...cuts, to]
}

/** Returns the next time after `ms` whose local time in the span is a multiple of `stepMs`. */
function nextLocal(ms: number, { offsetMs }: OffsetSpan, stepMs: number): number {
  return (Math.floor((ms + offsetMs) / stepMs) + 1) * stepMs - offsetMs
}

/** Numbers the local date or the local month, in ascending order. */
function dateOf(span: OffsetSpan | undefined, ms: number, interval: Interval): number {
  const localMs = ms + (span?.offsetMs ?? 0)
  if (interval !== 'month') return Math.floor(localMs / DAY_MS)
  const local = new Date(localMs)
  return local.getUTCFullYear() * 12 + local.getUTCMonth()
}

/** Formats ascending quarter hours in local time with offset: `2026-11-01T00:00:00.000000+01:00`. */
export function formatQuarters(quarters: readonly number[], zone: string): readonly string[] {
  const first = quarters[0] ?? 0
  const last = quarters.at(-1) ?? first
  const spans = offsetSpans(zone, first * QUARTER_MS, last * QUARTER_MS + 1)
  let nth = 0
  return quarters.map((quarter) => {
    const ms = quarter * QUARTER_MS
    while ((spans[nth + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= ms) nth += 1
    const offsetMs = spans[nth]?.offsetMs ?? 0
    return `${new Date(ms + offsetMs).toISOString().slice(0, 19)}.000000${formatOffset(offsetMs)}`
  })
}

function formatOffset(offsetMs: number): string {
  if (offsetMs === 0) return 'Z'
  const minutes = Math.abs(offsetMs) / 60_000
  const digits = (number: number) => String(Math.floor(number)).padStart(2, '0')
  return `${offsetMs < 0 ? '-' : '+'}${digits(minutes / 60)}:${digits(minutes % 60)}`
}

/** The most points in one response, over all groups. */
const POINTS_MAX = 10_000

/** @throws {Failure} `validation_failed` */
export function refuseTooManyPoints(
  points: number,
  limit: number | undefined,
  field = 'interval',
): void {
  const count = points * (limit ?? 1)
  if (count <= POINTS_MAX) return
  const sizes = { points: count, max: POINTS_MAX }
  const fault: Fault =
    limit === undefined
      ? { code: 'too_many_points', reason: 'intervals', ...sizes }
      : { code: 'too_many_points', reason: 'values', values: limit, ...sizes }
  throw Failure.invalid({ [field]: [fault] })
}

/** How many days one read may have, to bound memory and the time on the event loop. */
export type DaysPerRead = {
  readonly total: number
  readonly values: number
  readonly valuesWithSlots: number
}

/** Consecutive days, both ends included, and whether their slots are needed. */
export type DaySpan = { readonly fromDay: number; readonly toDay: number; readonly slots: boolean }

/**
 * Divides the days of the intervals into spans to read at once. Only days that an interval boundary divides
 * need their slots.
 *
 * @param byValue whether the values of a dimension are read
 */
export function planDays(
  cuts: readonly number[],
  byValue: boolean,
  perRead: DaysPerRead,
): readonly DaySpan[] {
  const sizeMax = (slots: boolean) =>
    !byValue ? perRead.total : slots ? perRead.valuesWithSlots : perRead.values
  const cutDays = new Set<number>()
  for (const cut of cuts) {
    if (cut % QUARTERS_PER_DAY !== 0) cutDays.add(Math.floor(cut / QUARTERS_PER_DAY))
  }
  const from = Math.floor((cuts[0] ?? 0) / QUARTERS_PER_DAY)
  const to = Math.ceil((cuts.at(-1) ?? 0) / QUARTERS_PER_DAY)
  const spans: DaySpan[] = []
  let begin = from
  for (let day = from; day < to; day += 1) {
    const slots = cutDays.has(begin)
    const size = day - begin + 1
    const isLast = day + 1 === to || cutDays.has(day + 1) !== slots
    if (!isLast && size < sizeMax(slots)) continue
    spans.push({ fromDay: begin, toDay: day, slots })
    begin = day + 1
  }
  return spans
}
