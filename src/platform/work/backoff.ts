/**
 * How long to wait before attempt `attempt` (0 is the first retry), doubling from `baseMs` up to
 * `capMs`, with "full jitter" so that many waiters do not return in step
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 *
 * @param unit a number in [0, 1), such as `Math.random()`
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number, unit: number): number {
  return unit * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30))
}
