/** How hard the properties search: `FUZZ_CASES` for more cases, `FUZZ_SEED` to see a run again. */
export const FUZZ = {
  numRuns: Number(process.env.FUZZ_CASES ?? 100),
  ...(process.env.FUZZ_SEED !== undefined && { seed: Number(process.env.FUZZ_SEED) }),
}
