/** Wall-clock time, as a parameter, so that a test can hold it. */
export type Clock = {
  /** Microseconds since the Unix epoch: an integer below 2^53 until the year 2255. */
  nowMicros(): number
}

/** How far the steady clock may drift from the wall clock before it is anchored anew. */
const DRIFT_MS_MAX = 2

/**
 * The machine's clock with microsecond steps: `Date.now()` for the truth, the monotonic clock for
 * the digits below a millisecond. Follows the wall clock when it is set.
 */
export function systemClock(): Clock {
  let anchorWallMs = Date.now()
  let anchorSteadyMs = performance.now()
  return {
    nowMicros() {
      const steadyMs = performance.now()
      const wallMs = Date.now()
      let nowMs = anchorWallMs + (steadyMs - anchorSteadyMs)
      if (Math.abs(nowMs - wallMs) > DRIFT_MS_MAX) {
        anchorWallMs = wallMs
        anchorSteadyMs = steadyMs
        nowMs = wallMs
      }
      return Math.floor(nowMs * 1000)
    },
  }
}
