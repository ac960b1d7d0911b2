/**
 * Counts values in buckets, as a Prometheus histogram does. An observation takes a few comparisons and
 * allocates nothing, so it is cheap enough for each visit.
 */
export class Histogram {
  /** Upper bounds of the buckets, ascending. A value equal to a bound belongs to its bucket. */
  readonly bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  get sum(): number {
    return this.#sum
  }

  /** The number of values up to each bound, in the order of the bounds; the last number counts all values. */
  get cumulated(): readonly number[] {
    let count = 0
    return Array.from(this.#counts, (own) => (count += own))
  }

  observe(value: number): void {
    let index = 0
    while (index < this.bounds.length && value > (this.bounds[index] as number)) index += 1
    this.#counts[index] = (this.#counts[index] as number) + 1
    this.#sum += value
  }
}

/** From well below the duration of a redirect up to the longest request timeout. */
export const LATENCY_BOUNDS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const
