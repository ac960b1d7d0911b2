import type { FaultList, Parsed } from '../../platform/failure.ts'
import { parseTimeZone } from './time-zone.ts'

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
    faults.add('from', input.to === undefined ? 'must not be later than now' : 'must be before to')
    return undefined
  }
  if (toMicros - fromMicros > PERIOD_MICROS_MAX) {
    faults.add('from', `must be at most ${PERIOD_DAYS_MAX} days before to`)
    return undefined
  }
  return { fromMicros, toMicros, zone }
}

/** Parses a date, which means the beginning of that day in the zone, or an instant. */
function parseBound(text: string, zone: string): Parsed<number> {
  const instant = readBound(text, zone)
  if (instant === undefined) {
    return {
      fault: 'must be a date such as 2026-11-01, or an instant such as 2026-11-01T09:30:00Z',
    }
  }
  const { year } = instant.toZonedDateTimeISO('UTC')
  return year >= YEAR_MIN && year <= YEAR_MAX
    ? { value: microsOf(instant) }
    : { fault: `must be in the years ${YEAR_MIN} to ${YEAR_MAX}` }
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
