import type { Parsed } from '../../platform/failure.ts'

/** Names as in the tz database; what else Temporal takes for a zone (offsets, whole instants) is not. */
const NAME = /^[a-z][a-z0-9._+-]*(\/[a-z0-9._+-]+)*$/i

/** The name of an IANA time zone in its usual letter case. */
export function parseTimeZone(text: string): Parsed<string> {
  const fault = 'must be the name of an IANA time zone, such as Europe/Berlin'
  if (!NAME.test(text)) return { fault }
  try {
    return { value: new Temporal.ZonedDateTime(0n, text).timeZoneId }
  } catch {
    return { fault }
  }
}

/** A stretch of time during which a zone's clocks keep the same distance from UTC. */
export type OffsetSpan = { readonly fromMs: number; readonly offsetMs: number }

/**
 * How a zone's clocks go from `fromMs` to `toMs`: the first span begins at `fromMs`, each further one
 * where the clocks are set, as for summer time.
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
