import { findLocalInstant } from '../source-dates.ts'

/**
 * Converts a service's date to microseconds since the epoch: ISO 8601 with a zone, milliseconds since the epoch,
 * or a date and time without a zone, which is read in `timeZone`. Returns null for anything else.
 */
export function microsOf(date: unknown, timeZone = 'UTC'): number | null {
  if (typeof date === 'number') return Number.isFinite(date) ? Math.round(date * 1_000) : null
  if (typeof date !== 'string') return null
  return zonedMicros(date) ?? findLocalInstant(date, timeZone) ?? null
}

function zonedMicros(text: string): number | null {
  try {
    return Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
  } catch {
    return null
  }
}
