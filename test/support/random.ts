import { randomInt } from 'node:crypto'

/** The seed of this run's random cases. Set `FUZZ_SEED` to a printed value to repeat a run. */
export const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))

process.once('exit', () => {
  if (process.exitCode !== undefined && process.exitCode !== 0) {
    process.stderr.write(`FUZZ_SEED=${SEED}\n`)
  }
})

/** Returns numbers in [0, 1) that are the same for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The random choices of this process, by its seed. */
export const random = seededRandom(SEED)
