const SECOND_MICROS = 1_000_000
const MINUTE_MICROS = 60 * SECOND_MICROS
const DAY_MICROS = 24 * 60 * MINUTE_MICROS

const FIRST_WAIT_MICROS = MINUTE_MICROS
const SECOND_WAIT_MICROS = 5 * MINUTE_MICROS
const PAUSE_MICROS = 5 * SECOND_MICROS
const PAUSE_MICROS_MAX = 15 * MINUTE_MICROS

/** Varies a wait by a fifth, so that hosts which failed together are not retried together. */
function jitter(micros: number, random: number): number {
  return Math.round(micros * (0.8 + 0.4 * random))
}

/**
 * Returns how long a host waits after `attempts` failures in a row: 1, 5, 10, 20 … minutes, a day at
 * most. Let's Encrypt blocks a name after 5 failures in an hour, but not one that fails once a day.
 *
 * @param random a number in [0, 1)
 */
export function orderWaitMicros(attempts: number, random: number): number {
  const wait =
    attempts <= 1
      ? FIRST_WAIT_MICROS
      : Math.min(DAY_MICROS, SECOND_WAIT_MICROS * 2 ** Math.min(attempts - 2, 30))
  return jitter(wait, random)
}

/**
 * Returns how long requests to an authority pause after `failures` in a row: 5 s at first, 15 min
 * at most.
 */
export function pauseMicros(failures: number, random: number): number {
  const wait = Math.min(PAUSE_MICROS_MAX, PAUSE_MICROS * 2 ** Math.min(failures - 1, 30))
  return jitter(wait, random)
}
