import type { Parsed } from '../failure.ts'

/** Wall-clock time; tests pass a clock that they control. */
export type Clock = {
  /** Microseconds since the Unix epoch: an integer below 2^53 until the year 2255. */
  nowMicros(): number
}

/** The last millisecond whose microseconds are exact as a number; SQLite refuses to return later ones. */
export const INSTANT_MILLIS_MAX = Date.UTC(2255, 0) - 1

/** How far the monotonic clock may drift from the wall clock before it is synchronized again. */
const DRIFT_MS_MAX = 2

/**
 * The system clock in microseconds: `Date.now()` is authoritative, the monotonic clock supplies the digits
 * below a millisecond. Follows the wall clock when it is set.
 */
export function systemClock(): Clock {
  let anchorWallMs = Date.now()
  let anchorMonotonicMs = performance.now()
  return {
    nowMicros() {
      const monotonicMs = performance.now()
      const wallMs = Date.now()
      let nowMs = anchorWallMs + (monotonicMs - anchorMonotonicMs)
      if (Math.abs(nowMs - wallMs) > DRIFT_MS_MAX) {
        anchorWallMs = wallMs
        anchorMonotonicMs = monotonicMs
        nowMs = wallMs
      }
      return Math.floor(nowMs * 1000)
    },
  }
}

let last = { micros: 0, text: '1970-01-01T00:00:00.000000Z' }

/**
 * Formats microseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. Keeps the last result: the answer to
 * a create and its entity tag show the same instant four times.
 */
export function formatInstant(micros: number): string {
  if (micros !== last.micros) {
    const millis = Math.floor(micros / 1000)
    const rest = String(micros - millis * 1000).padStart(3, '0')
    last = { micros, text: `${new Date(millis).toISOString().slice(0, -1)}${rest}Z` }
  }
  return last.text
}

/**
 * Converts an ISO 8601 instant with a zone to `YYYY-MM-DDTHH:MM:SS.ffffffZ`, truncated to microseconds.
 * Returns undefined for other text and outside the years 0 to 9999. The result stays a text, because a
 * double cannot hold the microseconds of `9999-12-31T23:59:59.999999Z`, which clients use for "never".
 */
export function canonicalInstant(text: string): string | undefined {
  try {
    const instant = Temporal.Instant.from(text)
    const canonical = instant.toString({ smallestUnit: 'microsecond', roundingMode: 'floor' })
    return /^\d{4}-/.test(canonical) ? canonical : undefined
  } catch {
    return undefined
  }
}

/** Parses an ISO 8601 instant with a zone. Returns microseconds since the epoch, rounded to a representable number. */
export function parseInstant(text: string): Parsed<number> {
  try {
    const micros = Number(Temporal.Instant.from(text).epochNanoseconds / 1_000n)
    return { value: Math.max(0, Math.min(micros, Number.MAX_SAFE_INTEGER)) }
  } catch {
    return { fault: { code: 'invalid_instant' } }
  }
}
