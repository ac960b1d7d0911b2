import { randomInt } from 'node:crypto'

const API_CASES_DEFAULT = 10_000
const REDIRECT_CASES_DEFAULT = 2_000

/** How many times the usual cases are wanted: `FUZZ_CASES` may ask for more, never for fewer. */
const factor = Math.max(1, Number(process.env.FUZZ_CASES ?? 0) / API_CASES_DEFAULT)

/** For all engines together. */
export const API_CASES = Math.ceil(API_CASES_DEFAULT * factor)
export const REDIRECT_CASES = Math.ceil(REDIRECT_CASES_DEFAULT * factor)

/** A run is repeated by setting `FUZZ_SEED` to what the run printed. */
export const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
