import type { Parsed } from '../../platform/failure.ts'

/** Names of the tz database. Temporal also accepts offsets and instants, which are not allowed here. */
const NAME = /^[a-z][a-z0-9._+-]*(\/[a-z0-9._+-]+)*$/i

/** Parses the name of an IANA time zone and corrects its letter case. */
export function parseTimeZone(text: string): Parsed<string> {
  const fault = 'must be the name of an IANA time zone, such as Europe/Berlin'
  if (!NAME.test(text)) return { fault }
  try {
    return { value: new Temporal.ZonedDateTime(0n, text).timeZoneId }
  } catch {
    return { fault }
  }
}

/** A time span with a constant offset from UTC. */
export type OffsetSpan = { readonly fromMs: number; readonly offsetMs: number }

/**
 * Returns the offset spans of a zone from `fromMs` to `toMs`. The first begins at `fromMs`, each further one
 * at a clock change, such as for summer time.
 */
export function offsetSpans(zone: string, fromMs: number, toMs: number): readonly OffsetSpan[] {
  const spans: OffsetSpan[] = []
  let at: Temporal.ZonedDateTime | null =
    Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(zone)
  while (at !== null && at.epochMilliseconds < toMs) {
    spans.push({ fromMs: at.epochMilliseconds, offsetMs: at.offsetNanoseconds / 1_000_000 })
    at = at.getTimeZoneTransition('next')
  }
  return spans
}
