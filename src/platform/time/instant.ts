/** Formats microseconds since the epoch as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export function formatInstant(micros: number): string {
  const millis = Math.floor(micros / 1000)
  const rest = String(micros - millis * 1000).padStart(3, '0')
  return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`
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
