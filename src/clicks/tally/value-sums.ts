import { type Bots, weightOf } from '../report/click-filter.ts'
import type { Counts, Tally } from '../report/day-of-clicks.ts'
import { QUARTERS_PER_DAY, type Quarters } from '../report/period.ts'
import { OTHER_VALUE } from './day-tally.ts'

/** The most values in memory. Beyond that, the half with the fewest clicks so far is merged. */
export const SUMS_MAX = 20_000

type Sum = { persons: number; others: number }

/** The sum of the values that are not listed. */
export type Rest = Counts & {
  /** The number of distinct values; a lower bound if some were merged. */
  readonly values: number
}

/** Counts the clicks of a period by the values of a dimension. */
export class ValueSums {
  readonly #from: number
  readonly #to: number
  readonly #bots: Bots
  #sums = new Map<string, Sum>()
  readonly #dropped = { values: 0, persons: 0, others: 0 }

  /** @param bots which clicks determine the rank of a value */
  constructor(period: Quarters, bots: Bots) {
    this.#from = period.from
    this.#to = period.to
    this.#bots = bots
  }

  /** The tally of a day that is only partly in the period needs slots. */
  add(value: string, day: number, tally: Tally): void {
    const begin = day * QUARTERS_PER_DAY
    const isWithin = this.#from <= begin && begin + QUARTERS_PER_DAY <= this.#to
    if (isWithin) this.addCounts(value, tally)
    else {
      for (const slot of tally.slots) {
        const quarter = begin + slot.slot
        if (this.#from <= quarter && quarter < this.#to) this.addCounts(value, slot)
      }
    }
  }

  /** Counts that lie in the period as a whole. */
  addCounts(value: string, { persons, others }: Counts): void {
    const sum = this.#sums.get(value)
    if (sum !== undefined) {
      sum.persons += persons
      sum.others += others
      return
    }
    this.#sums.set(value, { persons, others })
    if (this.#sums.size > SUMS_MAX) this.#prune()
  }

  /** Returns the values with the most selected clicks, and the sum of all others. */
  rank(limit: number): { top: readonly (readonly [string, Counts])[]; rest: Rest } {
    const ranked = this.#ranked()
    const rest = { ...this.#dropped }
    const others = ranked.findIndex(([value]) => value === OTHER_VALUE)
    for (const [, sum] of others < 0 ? [] : ranked.splice(others, 1)) addTo(rest, sum)
    for (const [, sum] of ranked.splice(limit)) addTo(rest, sum)
    return { top: ranked, rest }
  }

  #prune(): void {
    const ranked = this.#ranked()
    for (const [, sum] of ranked.splice(SUMS_MAX / 2)) addTo(this.#dropped, sum)
    this.#sums = new Map(ranked)
  }

  #ranked(): [string, Sum][] {
    return [...this.#sums]
      .filter(([, sum]) => weightOf(sum, this.#bots) > 0)
      .sort(
        ([a, left], [b, right]) =>
          weightOf(right, this.#bots) - weightOf(left, this.#bots) || (a < b ? -1 : 1),
      )
  }
}

function addTo(rest: { values: number; persons: number; others: number }, sum: Counts): void {
  rest.values += 1
  rest.persons += sum.persons
  rest.others += sum.others
}
