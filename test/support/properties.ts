import type { Parameters } from 'fast-check'

/**
 * How properties are run: `FUZZ_CASES` asks for more cases, and `FUZZ_SEED` for those of an earlier
 * run, which a failure prints.
 */
export function cases(byDefault: number): Parameters<unknown> {
  const seed = process.env.FUZZ_SEED
  return {
    numRuns: Number(process.env.FUZZ_CASES ?? byDefault),
    ...(seed !== undefined && { seed: Number(seed) }),
  }
}
