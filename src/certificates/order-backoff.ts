const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const DAY_MICROS = 24 * 60 * MINUTE_MICROS

const FIRST_WAIT_MICROS = MINUTE_MICROS
const SECOND_WAIT_MICROS = 5 * MINUTE_MICROS
const PAUSE_MICROS = 5 * SECOND_MICROS
const PAUSE_MICROS_MAX = 15 * MINUTE_MICROS

/** A fifth more or less, so that hosts which failed together do not come back together. */
function spread(micros: number, unit: number): number {
  return Math.round(micros * (0.8 + 0.4 * unit))
}

/**
 * How long a host waits after its `attempts`-th failure in a row: a minute, then 5, 10, 20 … minutes, up
 * to a day. Let's Encrypt stops a name after 5 failures in an hour, and one that fails each day never.
 *
 * @param unit a number in [0, 1)
 */
export function orderWaitMicros(attempts: number, unit: number): number {
  const wait =
    attempts <= 1
      ? FIRST_WAIT_MICROS
      : Math.min(DAY_MICROS, SECOND_WAIT_MICROS * 2 ** Math.min(attempts - 2, 30))
  return spread(wait, unit)
}

/** How long an authority is left alone that was not there for us `failures` times in a row. */
export function pauseMicros(failures: number, unit: number): number {
  const wait = Math.min(PAUSE_MICROS_MAX, PAUSE_MICROS * 2 ** Math.min(failures - 1, 30))
  return spread(wait, unit)
}
