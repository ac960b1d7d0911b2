/** A longer wait is taken for an error of the authority. */
const RETRY_AFTER_MS_MAX = 30 * 24 * 60 * 60 * 1_000

/**
 * Returns the milliseconds of a `Retry-After` header, which holds seconds or a date (RFC 9110, section
 * 10.2.3); undefined for anything else.
 */
export function parseRetryAfter(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX)
}
