/** Numbers from 0 to 1 that are the same for each run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns one of the values, each as often as its weight says. */
export function pick<T>(random: () => number, choices: readonly (readonly [T, number])[]): T {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0)
  let rest = random() * total
  for (const [value, weight] of choices) {
    rest -= weight
    if (rest < 0) return value
  }
  const last = choices.at(-1)
  if (last === undefined) throw new Error('nothing to pick from')
  return last[0]
}
