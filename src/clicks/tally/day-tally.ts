import { CLICK_DIMENSIONS, type Click, type ClickDimension } from '../click.ts'
import { slotOf } from './click-day.ts'
import { SlotTally } from './slot-tally.ts'
import { VisitorSketch } from './visitor-sketch.ts'

/** The most distinct values of one dimension per day and subject. */
export const VALUES_MAX = 1_000

/**
 * The value that stands for all further values. No visitor can send it: referrers are host names, which
 * have no parentheses.
 */
export const OTHER_VALUE = '(other)'

/** The counts of one subject (link, domain or workspace) on one UTC day. */
export class DayTally {
  readonly total = new SlotTally()
  /** People only. */
  readonly visitors = new VisitorSketch()
  readonly #values: Readonly<Record<ClickDimension, Map<string, SlotTally>>> = {
    country: new Map(),
    device: new Map(),
    os: new Map(),
    browser: new Map(),
    referrer: new Map(),
    language: new Map(),
    source: new Map(),
  }

  add(click: Click): void {
    const slot = slotOf(click.at)
    const isPerson = click.flags === 0
    const persons = isPerson ? click.count : 0
    const others = isPerson ? 0 : click.count
    this.total.add(slot, persons, others)
    for (const dimension of CLICK_DIMENSIONS) {
      this.valueOf(dimension, click[dimension]).add(slot, persons, others)
    }
    if (isPerson) this.visitors.add(click.visitor)
  }

  merge(other: DayTally): void {
    this.total.merge(other.total)
    this.visitors.merge(other.visitors)
    for (const dimension of CLICK_DIMENSIONS) {
      for (const [value, tally] of other.values(dimension)) {
        this.valueOf(dimension, value).merge(tally)
      }
    }
  }

  values(dimension: ClickDimension): ReadonlyMap<string, SlotTally> {
    return this.#values[dimension]
  }

  valueOf(dimension: ClickDimension, value: string): SlotTally {
    const values = this.#values[dimension]
    let tally = values.get(value)
    if (tally === undefined) {
      tally = new SlotTally()
      values.set(value, tally)
    }
    return tally
  }

  /** Keeps the `VALUES_MAX` values with most clicks of each dimension, and merges the rest into one. */
  limitValues(): void {
    for (const dimension of CLICK_DIMENSIONS) {
      const values = this.#values[dimension]
      const isOther = values.has(OTHER_VALUE) ? 1 : 0
      if (values.size - isOther <= VALUES_MAX) continue
      const rest = [...values]
        .filter(([value]) => value !== OTHER_VALUE)
        .sort(([a, { sum: ofA }], [b, { sum: ofB }]) => ofB - ofA || (a < b ? -1 : 1))
        .slice(VALUES_MAX)
      const other = values.get(OTHER_VALUE) ?? new SlotTally()
      for (const [value, tally] of rest) {
        other.merge(tally)
        values.delete(value)
      }
      values.set(OTHER_VALUE, other)
    }
  }
}
