import { randomInt } from 'node:crypto'
import type { Parameters } from 'fast-check'

/** What `FUZZ_CASES` counts: the requests of the run over the API's description. */
const API_CASES_DEFAULT = 10_000

/** How many times the usual cases are wanted: `FUZZ_CASES` may ask for more, never for fewer. */
const factor = Math.max(1, Number(process.env.FUZZ_CASES ?? 0) / API_CASES_DEFAULT)

/** Where this run's random cases begin. Set `FUZZ_SEED` to what a run printed to see it again. */
export const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))

/** So many cases by default, and more in the measure that `FUZZ_CASES` asks for. */
export function scaled(byDefault: number): number {
  return Math.ceil(byDefault * factor)
}

export const API_CASES = scaled(API_CASES_DEFAULT)

/** How a property is run; one that fails prints its seed. */
export function cases(byDefault: number): Parameters<unknown> {
  return { numRuns: scaled(byDefault), seed: SEED }
}
