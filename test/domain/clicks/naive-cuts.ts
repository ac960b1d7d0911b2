import type { Interval } from '../../../src/clicks/report/period.ts'

const QUARTER_MS = 900_000

/** The local time of a zone at a quarter hour. */
export function local(quarter: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(quarter * QUARTER_MS).toZonedDateTimeISO(zone)
}

/** The part of the local time that changes from one interval to the next. */
function shown(at: Temporal.ZonedDateTime, interval: Interval): string {
  if (interval === 'hour') return `${at.toPlainDate()} ${at.hour} ${at.offset}`
  return interval === 'day'
    ? at.toPlainDate().toString()
    : at.toPlainDate().toPlainYearMonth().toString()
}

/** Where intervals begin, and the end; checks the local time of every quarter hour. */
export function naiveCuts(from: number, to: number, zone: string, interval: Interval): number[] {
  const cuts = [from]
  let latest = shown(local(from, zone), interval)
  for (let quarter = from + 1; quarter < to; quarter += 1) {
    const now = shown(local(quarter, zone), interval)
    const isNew = interval === 'hour' ? now !== latest : now > latest
    if (!isNew) continue
    latest = now
    cuts.push(quarter)
  }
  return [...cuts, to]
}
