import type { FaultList, Parsed } from '../../platform/failure.ts'
import { parseTimeZone } from './time-zone.ts'

const DAYS_BY_DEFAULT = 30
/** Ten years and their leap days. */
const PERIOD_DAYS_MAX = 3_653
const PERIOD_MICROS_MAX = PERIOD_DAYS_MAX * 86_400_000_000
/** Before, no click can have been; after, microseconds come near the end of what a double holds. */
const YEAR_MIN = 2000
const YEAR_MAX = 2199

export type PeriodInput = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly timezone?: string | undefined
}

/** The time that is asked about, and the zone in which its days begin. */
export type Period = {
  /** Microseconds since the epoch, included. */
  readonly fromMicros: number
  /** Microseconds since the epoch, excluded. */
  readonly toMicros: number
  readonly zone: string
}

/**
 * The last 30 days of the zone, today included, as far as `from` and `to` are left out. Undefined
 * when there are faults, which are added to the list.
 */
export function parsePeriod(
  input: PeriodInput,
  nowMicros: number,
  faults: FaultList,
): Period | undefined {
  const zone = faults.take('timezone', parseTimeZone(input.timezone ?? 'UTC'))
  /** Null for one that is left out. */
  const take = (field: 'from' | 'to') => {
    const text = input[field]
    return text === undefined ? null : faults.take(field, parseBound(text, zone ?? 'UTC'))
  }
  const from = take('from')
  const to = take('to')
  if (zone === undefined || from === undefined || to === undefined) return undefined

  // The end of this microsecond, so that clicks of now are included.
  const toMicros = to ?? nowMicros + 1
  const fromMicros = from ?? startOfDefault(toMicros, zone)
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

/** A date, which stands for the beginning of that day in the zone, or an instant. */
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

/** The beginning of the first of the 30 days of which the last ends at, or holds, `toMicros`. */
function startOfDefault(toMicros: number, zone: string): number {
  const end = Temporal.Instant.fromEpochNanoseconds(BigInt(toMicros - 1) * 1_000n)
  const first = end
    .toZonedDateTimeISO(zone)
    .toPlainDate()
    .subtract({ days: DAYS_BY_DEFAULT - 1 })
  return microsOf(first.toZonedDateTime(zone).toInstant())
}

/** What is finer than a microsecond is cut off. */
function microsOf(instant: Temporal.Instant): number {
  return Number(instant.epochNanoseconds / 1_000n)
}
