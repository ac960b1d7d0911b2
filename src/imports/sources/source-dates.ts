import { RefusedRow } from './link-record.ts'

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

/** An instant in microseconds since the epoch, or why the text is none, as a part of a sentence. */
type CsvDate = { readonly instant: number } | { readonly fault: string }

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const WEEKDAY = /^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+/i
const ZONE = /\s*(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)$/i
const TIME = /[T,]?\s*(\d{1,2}):(\d\d)(?::(\d\d)(\.\d+)?)?\s*([ap]\.?m\.?)?$/i
/** Seconds, milliseconds or microseconds since the epoch, of the years 2001 to 2286. */
const EPOCH = /^(\d{10})(\d{3})?(\d{3})?$/

type Day = { readonly year: string; readonly month: number; readonly day: number }

/**
 * Reads a date as services and spreadsheets write it. A date such as 03/04/2026, whose day and month cannot be told
 * apart, is none.
 *
 * @param timeZone of a date that names no zone
 */
export function parseCsvDate(text: string, timeZone: string): CsvDate {
  const epoch = EPOCH.exec(text)
  if (epoch !== null) {
    const [, seconds, millis = '000', micros = '000'] = epoch
    return { instant: Number(`${seconds}${millis}${micros}`) }
  }
  let rest = text.trim().replace(WEEKDAY, '')
  const zone = rest.includes(':') ? ZONE.exec(rest) : null
  if (zone !== null) rest = rest.slice(0, zone.index)
  const time = TIME.exec(rest)
  if (time !== null) rest = rest.slice(0, time.index)
  const day = parseDay(rest.trim())
  if (day === undefined) return { fault: 'is no date' }
  if (day === 'ambiguous') return { fault: 'is one of two days: write it as 2026-12-31' }
  const date = `${day.year}-${pad(day.month)}-${pad(day.day)}`
  const instant = findLocalInstant(`${date}${formatTime(time)}`, zoneOf(zone?.[1]) ?? timeZone)
  return instant === undefined ? { fault: 'is no date' } : { instant }
}

const pad = (number: number) => String(number).padStart(2, '0')

function formatTime(time: RegExpExecArray | null): string {
  if (time === null) return ''
  const [, hours = '', minutes, seconds = '00', fraction = '', half] = time
  const hour =
    half === undefined ? Number(hours) : (Number(hours) % 12) + (/^p/i.test(half) ? 12 : 0)
  return ` ${pad(hour)}:${minutes}:${seconds}${fraction.slice(0, 10)}`
}

function zoneOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^[a-z]/i.test(text)) return 'UTC'
  const digits = text.slice(1).replace(':', '').padEnd(4, '0')
  return `${text[0]}${digits.slice(0, 2)}:${digits.slice(2)}`
}

const YEAR_FIRST = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/
const DAY_FIRST = /^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})$/
const SLASHED = /^(\d{1,2})[/-](\d{1,2})[/-](\d{4})$/
const MONTH_FIRST = /^([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})$/i
const MONTH_SECOND = /^(\d{1,2})(?:st|nd|rd|th)?[\s-]([a-z]{3})[a-z]*\.?[\s,-]+(\d{4})$/i

function parseDay(text: string): Day | 'ambiguous' | undefined {
  const yearFirst = YEAR_FIRST.exec(text)
  if (yearFirst !== null) return dayOf(yearFirst[1], yearFirst[2], yearFirst[3])
  const dayFirst = DAY_FIRST.exec(text)
  if (dayFirst !== null) return dayOf(dayFirst[3], dayFirst[2], dayFirst[1])
  const monthFirst = MONTH_FIRST.exec(text)
  if (monthFirst !== null) return dayOf(monthFirst[3], monthOf(monthFirst[1]), monthFirst[2])
  const monthSecond = MONTH_SECOND.exec(text)
  if (monthSecond !== null) return dayOf(monthSecond[3], monthOf(monthSecond[2]), monthSecond[1])
  const slashed = SLASHED.exec(text)
  if (slashed === null) return undefined
  const [, first = '', second = '', year = ''] = slashed
  if (Number(first) > 12 || first === second) return dayOf(year, second, first)
  return Number(second) > 12 ? dayOf(year, first, second) : 'ambiguous'
}

function monthOf(name = ''): string {
  return String(MONTHS.indexOf(name.toLowerCase()) + 1)
}

function dayOf(year = '', month = '', day = ''): Day {
  return { year, month: Number(month), day: Number(day) }
}
