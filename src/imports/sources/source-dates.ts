import { RefusedRow } from './refused-record.ts'

const MICROS_PER_SECOND = 1_000_000

/** `2026-11-22 08:02:39`, with `T` and a fraction allowed, and without a time. */
const LOCAL = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?$/
/** Databases write this for a date that was never set. */
const UNSET = /^0000-00-00/

/** Whether the name is that of a time zone, such as `Europe/Berlin`, `UTC` or `+02:00`. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name)
    return true
  } catch {
    return false
  }
}

/**
 * Returns the instant, in microseconds since the epoch, of a date without a zone. The hour that occurs twice when
 * clocks are set back is the first of both; a time that they skip is counted on from before the change. Returns
 * undefined for other text.
 *
 * @param timeZone the zone of the date; it must exist
 */
export function findLocalInstant(text: string, timeZone: string): number | undefined {
  const parts = LOCAL.exec(text)
  if (parts === null || UNSET.test(text)) return undefined
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = ''] = parts
  const micros = Math.floor(Number(`0${fraction}`) * MICROS_PER_SECOND)
  try {
    const local = Temporal.PlainDateTime.from(
      {
        ...{ year: Number(year), month: Number(month), day: Number(day) },
        ...{ hour: Number(hour), minute: Number(minute), second: Number(second) },
      },
      { overflow: 'reject' },
    )
    const zoned = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' })
    return zoned.epochMilliseconds * 1_000 + micros
  } catch {
    return undefined
  }
}

/** Like `findLocalInstant`; null for no date. @throws {RefusedRow} when the text is no date */
export function getLocalInstant(text: string | null, timeZone: string): number | null {
  if (text === null || text === '' || UNSET.test(text)) return null
  const instant = findLocalInstant(text, timeZone)
  if (instant === undefined) throw new RefusedRow(`"${text.slice(0, 50)}" is no date.`)
  return instant
}

/** Returns the instant at which clocks in UTC show what those in `timeZone` show at `instant`. */
export function shownIn(timeZone: string, instant: number): number {
  const millis = Math.floor(instant / 1_000)
  const zoned = Temporal.Instant.fromEpochMilliseconds(millis).toZonedDateTimeISO(timeZone)
  return instant + zoned.offsetNanoseconds / 1_000
}
