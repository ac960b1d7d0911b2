const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const HOUR_MICROS = 60 * MINUTE_MICROS
export const HALF_DAY_MICROS = 12 * HOUR_MICROS
export const DAY_MICROS = 24 * HOUR_MICROS

/** Before the second try, the third and so on; the last one repeats. */
const WAITS_MICROS = [
  5 * SECOND_MICROS,
  5 * MINUTE_MICROS,
  30 * MINUTE_MICROS,
  2 * HOUR_MICROS,
  5 * HOUR_MICROS,
  10 * HOUR_MICROS,
] as const

/** Each wait is up to a tenth longer, so that messages that failed together are not sent together again. */
const JITTER = 0.1
/** For how long a message is tried, and after how long without a success an endpoint is disabled. */
export const TRYING_MICROS = 5 * DAY_MICROS
/** The longest time for which a receiver may ask to be left alone. */
const ASKED_MICROS_MAX = 10 * HOUR_MICROS

/** Messages of which each failed at its first try: from then on, only one at a time is tried. */
export const OPEN_FROM_FAILURES = 3

/** Whether the circuit breaker is open: the receiver is taken to be down. */
export function isOpen({ failures }: { readonly failures: number }): boolean {
  return failures >= OPEN_FROM_FAILURES
}

/**
 * Decides when a message is tried again after a failure; null when it was tried for five days. The last try is at the
 * end of them.
 *
 * @param message.tries how often it was tried, this failure included
 * @param retryAt when the receiver asked for it; null if it did not
 * @param random from 0 to 1
 */
export function decideRetry(
  message: { readonly tries: number; readonly queued_at: number },
  on: { readonly now: number; readonly retryAt: number | null; readonly random: number },
): number | null {
  const { now, retryAt, random } = on
  const end = message.queued_at + TRYING_MICROS
  if (now >= end) return null
  const wait = WAITS_MICROS[Math.min(message.tries, WAITS_MICROS.length) - 1] ?? WAITS_MICROS[0]
  const planned = now + Math.round(wait * (1 + JITTER * random))
  const asked = retryAt === null ? planned : Math.min(retryAt, now + ASKED_MICROS_MAX)
  return Math.min(Math.max(planned, asked), end)
}
