/** Wall-clock time; tests pass a clock that they control. */
export type Clock = {
  /** Microseconds since the Unix epoch: an integer below 2^53 until the year 2255. */
  nowMicros(): number
}

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
