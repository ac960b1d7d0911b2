import type { SlotCounts, Tally } from '../report/day-of-clicks.ts'

/** Clicks of people and others by quarter hour of a day. Only quarter hours with clicks take memory. */
export class SlotTally {
  /** Ascending. */
  readonly #slots: number[] = []
  readonly #persons: number[] = []
  readonly #others: number[] = []
  persons = 0
  others = 0

  add(slot: number, persons: number, others: number): void {
    this.persons += persons
    this.others += others
    this.#addTo(slot, persons, others)
  }

  /** Adds the sums by themselves: a stored sum of a value has no quarter hours. */
  merge(other: SlotTally): void {
    this.persons += other.persons
    this.others += other.others
    for (const { slot, persons, others } of other.slots()) this.#addTo(slot, persons, others)
  }

  get sum(): number {
    return this.persons + this.others
  }

  get size(): number {
    return this.#slots.length
  }

  *slots(): Generator<SlotCounts> {
    for (const [at, slot] of this.#slots.entries()) {
      yield { slot, persons: this.#persons[at] ?? 0, others: this.#others[at] ?? 0 }
    }
  }

  toTally(withSlots: boolean): Tally {
    return {
      persons: this.persons,
      others: this.others,
      slots: withSlots ? [...this.slots()] : [],
    }
  }

  #addTo(slot: number, persons: number, others: number): void {
    const at = this.#find(slot)
    this.#persons[at] = (this.#persons[at] ?? 0) + persons
    this.#others[at] = (this.#others[at] ?? 0) + others
  }

  /** Returns the index of the slot, inserting it if missing. Searches from the end: clicks mostly arrive in order. */
  #find(slot: number): number {
    let at = this.#slots.length
    while (at > 0 && (this.#slots[at - 1] ?? 0) > slot) at -= 1
    if (at > 0 && this.#slots[at - 1] === slot) return at - 1
    this.#slots.splice(at, 0, slot)
    this.#persons.splice(at, 0, 0)
    this.#others.splice(at, 0, 0)
    return at
  }
}
