/**
 * Returns how long to wait before retry `attempt` (0 is the first). The upper limit doubles from `baseMs` to
 * `capMs`; "full jitter" keeps many clients from retrying in step
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 *
 * @param unit a number in [0, 1), such as `Math.random()`
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number, unit: number): number {
  return unit * Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30))
}
