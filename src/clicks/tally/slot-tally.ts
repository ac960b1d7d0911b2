import type { ByteWriter } from '../../platform/bytes/bytes.ts'
import type { Click } from '../click.ts'
import type { Counts, SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { QUARTERS_PER_DAY } from '../report/period.ts'
import { SLOTS_PER_DAY } from './click-day.ts'

/** Clicks of people and others by quarter hour of a day. After `clear` its memory is used again. */
export class SlotTally {
  /** The quarter hours that have clicks, ascending. */
  readonly #slots: number[] = []
  readonly #persons: number[] = []
  readonly #others: number[] = []
  #size = 0

  /**
   * @param slot 0 to 95
   * @throws {RangeError} for another slot
   */
  add(slot: number, persons: number, others: number): void {
    if (slot >= SLOTS_PER_DAY) throw new RangeError(`unknown quarter hour: ${slot}`)
    // From the end: clicks come nearly in the order of time.
    let at = this.#size - 1
    while (at >= 0 && (this.#slots[at] ?? 0) > slot) at -= 1
    if (at < 0 || this.#slots[at] !== slot) {
      at += 1
      this.#insert(at, slot)
    }
    this.#persons[at] = (this.#persons[at] ?? 0) + persons
    this.#others[at] = (this.#others[at] ?? 0) + others
  }

  get slots(): SlotCounts[] {
    return Array.from({ length: this.#size }, (_, at) => ({
      slot: this.#slots[at] ?? 0,
      persons: this.#persons[at] ?? 0,
      others: this.#others[at] ?? 0,
    }))
  }

  get counts(): Counts {
    let persons = 0
    let others = 0
    for (let at = 0; at < this.#size; at += 1) {
      persons += this.#persons[at] ?? 0
      others += this.#others[at] ?? 0
    }
    return { persons, others }
  }

  /** Adds this to another one, and starts again. */
  moveTo(other: SlotTally): void {
    for (const { slot, persons, others } of this.slots) other.add(slot, persons, others)
    this.clear()
  }

  /** Writes it as the day's format has it (day-format.ts). */
  write(writer: ByteWriter): void {
    writer.varint(this.#size)
    for (let at = 0; at < this.#size; at += 1) {
      writer.byte(this.#slots[at] ?? 0)
      writer.varint(this.#persons[at] ?? 0)
      writer.varint(this.#others[at] ?? 0)
    }
  }

  clear(): void {
    this.#size = 0
  }

  #insert(at: number, slot: number): void {
    for (let later = this.#size; later > at; later -= 1) {
      this.#slots[later] = this.#slots[later - 1] ?? 0
      this.#persons[later] = this.#persons[later - 1] ?? 0
      this.#others[later] = this.#others[later - 1] ?? 0
    }
    this.#slots[at] = slot
    this.#persons[at] = 0
    this.#others[at] = 0
    this.#size += 1
  }
}

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
