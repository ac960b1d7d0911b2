import type { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { enlarge } from '../../platform/bytes/enlarge.ts'
import type { Counts, SlotCounts } from '../report/day-of-clicks.ts'
import { SLOTS_PER_DAY } from './click-day.ts'

const INITIAL_ROWS = 64
const INITIAL_CELLS = 256
/** No cell; the first one is 1. */
const NONE = 0

/**
 * Clicks of people and others by quarter hour of a day, for each of many numbered rows. A row is a list of cells in the
 * order of their quarter hours. In arrays, because an object for each would cost more than the additions.
 */
export class SlotLists {
  /** For each row: its first cell, and the one that was added to last. */
  #first = new Int32Array(INITIAL_ROWS)
  #last = new Int32Array(INITIAL_ROWS)
  #rows = 0
  /** For each cell: the next one of its row, its quarter hour, and its clicks, which may exceed 32 bits. */
  #next = new Int32Array(INITIAL_CELLS)
  #slots = new Uint8Array(INITIAL_CELLS)
  #persons = new Float64Array(INITIAL_CELLS)
  #others = new Float64Array(INITIAL_CELLS)
  #cells = 1

  /**
   * @param slot 0 to 95
   * @throws {RangeError} for another slot
   */
  add(row: number, slot: number, persons: number, others: number): void {
    if (slot >= SLOTS_PER_DAY) throw new RangeError(`unknown quarter hour: ${slot}`)
    const cell = this.#cellOf(row, slot)
    this.#persons[cell] = (this.#persons[cell] ?? 0) + persons
    this.#others[cell] = (this.#others[cell] ?? 0) + others
  }

  /** Adds a row to another one, and empties it. */
  move(row: number, into: number): void {
    for (const { slot, persons, others } of this.slotsOf(row)) this.add(into, slot, persons, others)
    this.#first[row] = NONE
    this.#last[row] = NONE
  }

  slotsOf(row: number): SlotCounts[] {
    const slots: SlotCounts[] = []
    for (let cell = this.#firstOf(row); cell !== NONE; cell = this.#next[cell] ?? NONE) {
      const [persons = 0, others = 0] = [this.#persons[cell], this.#others[cell]]
      slots.push({ slot: this.#slots[cell] ?? 0, persons, others })
    }
    return slots
  }

  countsOf(row: number): Counts {
    let persons = 0
    let others = 0
    for (let cell = this.#firstOf(row); cell !== NONE; cell = this.#next[cell] ?? NONE) {
      persons += this.#persons[cell] ?? 0
      others += this.#others[cell] ?? 0
    }
    return { persons, others }
  }

  /** Writes a row as the day's format has it (day-format.ts). */
  write(row: number, writer: ByteWriter): void {
    const first = this.#firstOf(row)
    let count = 0
    for (let cell = first; cell !== NONE; cell = this.#next[cell] ?? NONE) count += 1
    writer.varint(count)
    for (let cell = first; cell !== NONE; cell = this.#next[cell] ?? NONE) {
      writer.byte(this.#slots[cell] ?? 0)
      writer.varint(this.#persons[cell] ?? 0)
      writer.varint(this.#others[cell] ?? 0)
    }
  }

  /** Empties all rows. */
  clear(): void {
    this.#first.fill(NONE, 0, this.#rows)
    this.#last.fill(NONE, 0, this.#rows)
    this.#rows = 0
    this.#cells = 1
  }

  #firstOf(row: number): number {
    return this.#first[row] ?? NONE
  }

  #cellOf(row: number, slot: number): number {
    if (row >= this.#rows) this.#reserve(row)
    // Clicks come nearly in the order of time.
    const last = this.#last[row] ?? NONE
    let before = NONE
    let cell = last !== NONE && (this.#slots[last] ?? 0) <= slot ? last : this.#firstOf(row)
    while (cell !== NONE && (this.#slots[cell] ?? 0) < slot) {
      before = cell
      cell = this.#next[cell] ?? NONE
    }
    if (cell === NONE || this.#slots[cell] !== slot) cell = this.#insert(row, before, cell, slot)
    this.#last[row] = cell
    return cell
  }

  #insert(row: number, before: number, next: number, slot: number): number {
    const cell = this.#cells
    if (cell === this.#slots.length) this.#enlargeCells(2 * cell)
    this.#cells += 1
    this.#slots[cell] = slot
    this.#persons[cell] = 0
    this.#others[cell] = 0
    this.#next[cell] = next
    if (before === NONE) this.#first[row] = cell
    else this.#next[before] = cell
    return cell
  }

  #reserve(row: number): void {
    this.#rows = row + 1
    if (row < this.#first.length) return
    this.#first = enlarge(this.#first, 2 * this.#rows)
    this.#last = enlarge(this.#last, 2 * this.#rows)
  }

  #enlargeCells(length: number): void {
    this.#next = enlarge(this.#next, length)
    this.#slots = enlarge(this.#slots, length)
    this.#persons = enlarge(this.#persons, length)
    this.#others = enlarge(this.#others, length)
  }
}
