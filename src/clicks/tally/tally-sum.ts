import type { Click } from '../click.ts'
import type { Counts, SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { QUARTERS_PER_DAY } from '../report/intervals.ts'

/** Adds up tallies of one day. */
export class TallySum {
  #persons = 0
  #others = 0
  readonly #bySlot = new Map<number, { persons: number; others: number }>()

  add({ persons, others, slots }: Tally): void {
    this.#persons += persons
    this.#others += others
    for (const slot of slots) this.#addToSlot(slot)
  }

  addClick(slot: number, { flags, count }: Pick<Click, 'flags' | 'count'>): void {
    const counts = flags === 0 ? { persons: count, others: 0 } : { persons: 0, others: count }
    this.#persons += counts.persons
    this.#others += counts.others
    this.#addToSlot({ slot, ...counts })
  }

  finish(): Tally {
    const slots: SlotCounts[] = []
    for (let slot = 0; slot < QUARTERS_PER_DAY; slot += 1) {
      const counts = this.#bySlot.get(slot)
      if (counts !== undefined) slots.push({ slot, ...counts })
    }
    return { persons: this.#persons, others: this.#others, slots }
  }

  #addToSlot({ slot, persons, others }: { slot: number } & Counts): void {
    const counts = this.#bySlot.get(slot)
    if (counts === undefined) this.#bySlot.set(slot, { persons, others })
    else {
      counts.persons += persons
      counts.others += others
    }
  }
}
