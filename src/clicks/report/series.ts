import type { Counts, DayOfClicks, Tally } from './day-of-clicks.ts'
import { QUARTERS_PER_DAY } from './period.ts'

/** The counts of consecutive intervals. */
export class Series {
  readonly #cuts: readonly number[]
  readonly #persons: Float64Array
  readonly #others: Float64Array
  readonly #visitors: Float64Array
  /** The interval in which the day that was added last begins. */
  #first = 0

  /** @param cuts the quarter hours at which the intervals begin, and the one at which the last ends */
  constructor(cuts: readonly number[]) {
    this.#cuts = cuts
    this.#persons = new Float64Array(cuts.length - 1)
    this.#others = new Float64Array(cuts.length - 1)
    this.#visitors = new Float64Array(cuts.length - 1)
  }

  /** Returns the counts of each interval and the quarter hour at which it begins. */
  points(): (Counts & { start: number })[] {
    return Array.from(this.#persons, (_, nth) => ({
      start: cutAt(this.#cuts, nth),
      ...this.counts(nth),
    }))
  }

  counts(interval: number): Counts {
    return { persons: this.#persons[interval] ?? 0, others: this.#others[interval] ?? 0 }
  }

  /** Null if it cannot be determined. */
  visitors(interval: number): number | null {
    const visitors = this.#visitors[interval] ?? 0
    return Number.isNaN(visitors) ? null : visitors
  }

  /**
   * Adds a day's tally to its intervals. Days must be added in ascending order. A day that an interval
   * boundary divides needs its slots.
   */
  add(day: number, tally: Tally): void {
    this.#spread(day, tally)
  }

  /**
   * Like `add`, but also counts the visitors of the tally. Quarter hours have no visitor counts. So the
   * visitors of an interval with only a part of the day are known only if that part has none of the
   * tally's clicks, one click, or all clicks of the day. So are those of a day with unknown visitors if it has no
   * click, or one.
   */
  addWithVisitors(day: DayOfClicks, tally: Tally): void {
    for (const { interval, persons } of this.#spread(day.day, tally)) {
      const visitors = visitorsAmong(persons, day)
      this.#visitors[interval] = (this.#visitors[interval] ?? 0) + (visitors ?? Number.NaN)
    }
  }

  /** Adds the tally, and returns the clicks of persons added to each affected interval. */
  #spread(day: number, tally: Tally): { interval: number; persons: number }[] {
    const cuts = this.#cuts
    const begin = day * QUARTERS_PER_DAY
    const end = begin + QUARTERS_PER_DAY
    const last = this.#persons.length - 1
    while (this.#first < last && cutAt(cuts, this.#first + 1) <= begin) this.#first += 1
    if (cutAt(cuts, this.#first) <= begin && end <= cutAt(cuts, this.#first + 1)) {
      this.#bump(this.#first, tally)
      return [{ interval: this.#first, persons: tally.persons }]
    }
    const touched: { interval: number; persons: number }[] = []
    let interval = this.#first
    for (const slot of tally.slots) {
      const quarter = begin + slot.slot
      if (quarter < cutAt(cuts, interval)) continue
      while (interval < last && cutAt(cuts, interval + 1) <= quarter) interval += 1
      if (cutAt(cuts, interval + 1) <= quarter) break
      this.#bump(interval, slot)
      const before = touched.at(-1)
      if (before?.interval === interval) before.persons += slot.persons
      else touched.push({ interval, persons: slot.persons })
    }
    return touched
  }

  #bump(interval: number, { persons, others }: Counts): void {
    this.#persons[interval] = (this.#persons[interval] ?? 0) + persons
    this.#others[interval] = (this.#others[interval] ?? 0) + others
  }
}

function cutAt(cuts: readonly number[], nth: number): number {
  return cuts[nth] ?? Number.POSITIVE_INFINITY
}

/** Returns how many visitors made `persons` of a day's clicks; undefined if that cannot be determined. */
function visitorsAmong(persons: number, day: DayOfClicks): number | undefined {
  if (persons <= 1) return persons
  if (day.visitors === null || persons !== day.total.persons) return undefined
  return Math.min(day.visitors, persons)
}
