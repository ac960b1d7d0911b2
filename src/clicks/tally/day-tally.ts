import { ByteReader, ByteWriter, enlarge } from '../../platform/bytes/bytes.ts'
import {
  CLICK_DIMENSIONS,
  type Click,
  type ClickDimension,
  SPARSE_DIMENSIONS,
  UNLABELLED_COUNT,
  UNPLACED_COUNT,
  VISITOR_DIMENSIONS,
} from '../click.ts'
import type { ClickColumns, ClickRun } from '../click-columns.ts'
import type { Counts, SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { QUARTERS_PER_DAY } from '../report/period.ts'
import { SLOTS_PER_DAY, slotOf } from './click-day.ts'
import {
  clickTag,
  dimensionsAfter,
  dimensionsTag,
  PART_VERSION,
  partReader,
  readTotal,
  TALLY,
  VISITORS_UNKNOWN,
  withoutValue,
} from './day-format.ts'
import { ValueNumbers } from './values.ts'
import { VisitorSketch } from './visitor-sketch.ts'

/** The most distinct values of one dimension per day and subject. */
export const VALUES_MAX = 1_000
/** The same for labels: as many as a workspace may list, and as many again that it has not listed (known-labels.ts). */
const LABELS_MAX = 2 * VALUES_MAX

/**
 * The value that stands for all further values. Referrers are host names, which have no parentheses; a label that is the
 * same counts as one of the others.
 */
export const OTHER_VALUE = '(other)'

/** Returns the most distinct values of a dimension per day and subject. */
export function valuesMax(dimension: ClickDimension): number {
  return dimension === 'label' ? LABELS_MAX : VALUES_MAX
}

const OTHER = Buffer.from(OTHER_VALUE)
/** In `CLICK_DIMENSIONS`: of those before, each click has a value, if only ''. */
const FIRST_SPARSE: number = VISITOR_DIMENSIONS.length
/** Room for the numbers of most dimensions. */
const INITIAL_VALUES = 256
/** The quarter hour of sums that are read without theirs. */
const ANY_SLOT = 0

/**
 * Adds up the clicks of one subject (link, domain or workspace) on one UTC day. After `clear` its memory is used again
 * for another day. What is damaged is refused with a `RangeError`; a part of it may have been added.
 */
export class DayTally {
  readonly #total = new SlotTally()
  /**
   * For each dimension its values, and their clicks by the values' numbers; entries behind the last
   * value are empty.
   */
  readonly #values = CLICK_DIMENSIONS.map(() => new ValueNumbers())
  readonly #tallies = CLICK_DIMENSIONS.map((): SlotTally[] => [])
  /** Visitors among people; bots are not counted. */
  #visitors = new VisitorSketch()
  readonly #writer = new ByteWriter()

  /** Adds clicks of the day. Consecutive ones of a quarter hour are counted by value first: a value is looked up once for them. */
  addClicks(clicks: ClickColumns, run: ClickRun): void {
    const { indexes } = run
    const slotAt = (at: number) => slotOf(clicks.at[indexes[at] ?? 0] ?? 0)
    for (let { start } = run; start < run.end; ) {
      const slot = slotAt(start)
      let end = start + 1
      while (end < run.end && slotAt(end) === slot) end += 1
      this.#addSlot(slot, clicks, { indexes, start, end })
      start = end
    }
  }

  addChunks(chunks: Uint8Array): void {
    const reader = new ByteReader(chunks)
    while (!reader.ended) {
      const first = reader.byte()
      const stated = dimensionsAfter(first)
      const tag = stated === undefined ? first : reader.byte()
      const dimensions = stated ?? FIRST_SPARSE
      if (tag === TALLY) this.#addTally(reader, dimensions)
      else this.#addSingle(tag, reader, dimensions)
    }
  }

  /** @param withSlots whether its quarter hours are needed, as for the next two */
  addTotal(part: Uint8Array, withSlots: boolean): void {
    const total = readTotal(part, withSlots)
    const slots = withSlots ? total.slots : [{ ...total, slot: ANY_SLOT }]
    for (const { slot, persons, others } of slots) this.#total.add(slot, persons, others)
  }

  addVisitors(part: Uint8Array): void {
    this.#visitors.read(partReader(part))
  }

  /** Adds a part with the values of a dimension: their quarter hours, or only their sums. */
  addValues(dimension: ClickDimension, part: Uint8Array, withSlots: boolean): void {
    this.#addValues(CLICK_DIMENSIONS.indexOf(dimension), partReader(part), withSlots)
  }

  /** @param withSlots whether its quarter hours are needed */
  total(withSlots: boolean): Tally {
    return readTally(this.#total, withSlots)
  }

  /** How many people; null if some are unknown. */
  get visitors(): number | null {
    return this.#visitors.count()
  }

  /**
   * Returns the values with the most clicks, as many as there may be, and the sum of the others as `OTHER_VALUE`.
   *
   * @param wanted the values to return; defaults to all
   */
  values(
    dimension: ClickDimension,
    withSlots: boolean,
    wanted?: ReadonlySet<string>,
  ): Map<string, Tally> {
    const index = CLICK_DIMENSIONS.indexOf(dimension)
    const values = new Map<string, Tally>()
    for (const number of this.#limited(index)) {
      const value = this.#valuesOf(index).textOf(number)
      if (wanted?.has(value) === false) continue
      values.set(value, readTally(this.#tallyOf(index, number), withSlots))
    }
    if (index >= FIRST_SPARSE && wanted?.has('') !== false) {
      const tallies = this.#limited(index).map((number) => this.#tallyOf(index, number))
      const without = withoutValue(
        this.total(withSlots),
        tallies.map((tally) => readTally(tally, withSlots)),
      )
      if (without !== undefined) values.set('', without)
    }
    return values
  }

  /** Whether any click has a value of the dimension that is stored. */
  hasValues(dimension: ClickDimension): boolean {
    return this.#valuesOf(CLICK_DIMENSIONS.indexOf(dimension)).size > 0
  }

  /** Returns everything as a chunk, and starts again. */
  take(): Buffer {
    const writer = this.#writer
    const dimensions = this.#dimensions()
    const tag = dimensionsTag(dimensions)
    if (tag !== undefined) writer.byte(tag)
    writer.byte(TALLY)
    this.#total.write(writer)
    this.#visitors.write(writer)
    for (let index = 0; index < dimensions; index += 1) this.#writeValues(index)
    this.clear()
    return writer.take()
  }

  /** Returns the part with the day's sums and visitor count, followed by its slots. */
  totalPart(): Buffer {
    const { visitors } = this
    this.#writer.byte(visitors === null ? VISITORS_UNKNOWN : PART_VERSION)
    writeCounts(this.#total.counts, this.#writer)
    if (visitors !== null) this.#writer.varint(visitors)
    this.#total.write(this.#writer)
    return this.#writer.take()
  }

  visitorsPart(): Buffer {
    this.#writer.byte(PART_VERSION)
    this.#visitors.write(this.#writer)
    return this.#writer.take()
  }

  /** Returns the part with a dimension's values: their quarter hours, or only their sums. */
  valuesPart(dimension: ClickDimension, withSlots: boolean): Buffer {
    this.#writer.byte(PART_VERSION)
    this.#writeValues(CLICK_DIMENSIONS.indexOf(dimension), withSlots)
    return this.#writer.take()
  }

  clear(): void {
    this.#total.clear()
    for (const [index, values] of this.#values.entries()) {
      for (let number = 0; number < values.size; number += 1) this.#tallyOf(index, number).clear()
      values.clear()
    }
    this.#visitors = new VisitorSketch()
  }

  /** How many of `CLICK_DIMENSIONS`, from the first on, a chunk of this needs. */
  #dimensions(): number {
    if (this.hasValues('region') || this.hasValues('city')) return CLICK_DIMENSIONS.length
    if (this.hasValues('label')) return UNPLACED_COUNT
    return SPARSE_DIMENSIONS.some((dimension) => this.hasValues(dimension))
      ? UNLABELLED_COUNT
      : FIRST_SPARSE
  }

  #addSlot(slot: number, clicks: ClickColumns, run: ClickRun): void {
    let [persons, others] = [0, 0]
    for (let at = run.start; at < run.end; at += 1) {
      const index = run.indexes[at] ?? 0
      if (clicks.flags[index] === 0) {
        persons += clicks.count[index] ?? 0
        this.#visitors.add(clicks.visitor[index] ?? 0)
      } else others += clicks.count[index] ?? 0
    }
    this.#total.add(slot, persons, others)
    const dimensions = clicks.hasSparse ? CLICK_DIMENSIONS.length : FIRST_SPARSE
    for (let dimension = 0; dimension < dimensions; dimension += 1) {
      const values = clicks.values[dimension] as ValueNumbers
      const numbers = clicks.numbers[dimension] as Uint32Array
      byValue.count(clicks, run, numbers, values.size)
      byValue.take((known, persons, others) => {
        if (dimension >= FIRST_SPARSE && known === 0) return
        const number = this.#valuesOf(dimension).numberFrom(values, known)
        this.#tallyOf(dimension, number).add(slot, persons, others)
      })
    }
  }

  #addSingle(tag: number, reader: ByteReader, dimensions: number): void {
    const { slot, persons, others } = clickTag(tag)
    this.#total.add(slot, persons, others)
    if (persons > 0) this.#visitors.add(reader.uint56())
    for (let index = 0; index < dimensions; index += 1) {
      this.#nextTally(index, reader)?.add(slot, persons, others)
    }
  }

  #addTally(reader: ByteReader, dimensions: number): void {
    addSlots(this.#total, reader)
    this.#visitors.read(reader)
    for (let index = 0; index < dimensions; index += 1) {
      this.#addValues(index, reader, true)
    }
  }

  #addValues(index: number, reader: ByteReader, withSlots: boolean): void {
    for (let count = reader.varint(); count > 0; count -= 1) {
      const tally = this.#nextTally(index, reader)
      if (tally === undefined) throw new RangeError('a value of a sparse dimension is empty')
      if (withSlots) addSlots(tally, reader)
      else tally.add(ANY_SLOT, reader.varint(), reader.varint())
    }
  }

  /** Returns the tally of the value that is read next; undefined for none, as a click has no variant without a split. */
  #nextTally(index: number, reader: ByteReader): SlotTally | undefined {
    const length = reader.byte()
    const at = reader.skip(length)
    if (index >= FIRST_SPARSE && length === 0) return undefined
    const number = this.#valuesOf(index).numberOf(reader.source, at, at + length)
    return this.#tallyOf(index, number)
  }

  #tallyOf(index: number, number: number): SlotTally {
    const tallies = this.#tallies[index] as SlotTally[]
    tallies[number] ??= new SlotTally()
    return tallies[number]
  }

  #valuesOf(index: number): ValueNumbers {
    const values = this.#values[index]
    if (values === undefined) throw new RangeError(`there is no dimension ${index}`)
    return values
  }

  #writeValues(index: number, withSlots = true): void {
    const writer = this.#writer
    const values = this.#valuesOf(index)
    const numbers = this.#limited(index)
    writer.varint(numbers.length)
    for (const number of numbers) {
      values.write(number, writer)
      const tally = this.#tallyOf(index, number)
      if (withSlots) tally.write(writer)
      else writeCounts(tally.counts, writer)
    }
  }

  /**
   * Returns the numbers of a dimension's values. Of more than there may be, those with the most clicks, after adding
   * the others to `OTHER_VALUE`.
   */
  #limited(index: number): number[] {
    const values = this.#valuesOf(index)
    const numbers: number[] = []
    for (let number = 0; number < values.size; number += 1) numbers.push(number)
    const max = valuesMax(CLICK_DIMENSIONS[index] as ClickDimension)
    if (numbers.length <= max) return numbers
    const other = values.numberOf(OTHER, 0, OTHER.length)
    const ranked = numbers
      .filter((number) => number !== other)
      .map((number) => ({ number, ...this.#tallyOf(index, number).counts }))
      .sort(
        (a, b) =>
          b.persons + b.others - a.persons - a.others ||
          (values.textOf(a.number) < values.textOf(b.number) ? -1 : 1),
      )
    const others = ranked.splice(max)
    const ofOthers = this.#tallyOf(index, other)
    for (const { number } of others) this.#tallyOf(index, number).moveTo(ofOthers)
    return [...ranked.map(({ number }) => number), other]
  }
}

function addSlots(tally: SlotTally, reader: ByteReader): void {
  for (let count = reader.varint(); count > 0; count -= 1) {
    tally.add(reader.byte(), reader.varint(), reader.varint())
  }
}

function writeCounts({ persons, others }: Counts, writer: ByteWriter): void {
  writer.varint(persons)
  writer.varint(others)
}

function readTally(tally: SlotTally, withSlots: boolean): Tally {
  return { ...tally.counts, slots: withSlots ? tally.slots : NO_SLOTS }
}

/** Shared by all values that are read without slots, because there are many. */
const NO_SLOTS: Tally['slots'] = []

/** Clicks of people and others by quarter hour of a day. After `clear` its memory is used again. */
class SlotTally {
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
    const slots: SlotCounts[] = []
    for (let at = 0; at < this.#size; at += 1) {
      slots.push({
        slot: this.#slots[at] ?? 0,
        persons: this.#persons[at] ?? 0,
        others: this.#others[at] ?? 0,
      })
    }
    return slots
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

/** Counts clicks by the numbers of their values. After `take` its memory is used again. */
class ValueCounts {
  #persons = new Float64Array(INITIAL_VALUES)
  #others = new Float64Array(INITIAL_VALUES)
  /** The numbers that have clicks, in the order in which they came. */
  readonly #numbers: number[] = []

  /** @param size all numbers are below */
  count(clicks: ClickColumns, run: ClickRun, numbers: Uint32Array, size: number): void {
    if (size > this.#persons.length) {
      this.#persons = enlarge(this.#persons, 2 * size)
      this.#others = enlarge(this.#others, 2 * size)
    }
    const [persons, others] = [this.#persons, this.#others]
    for (let at = run.start; at < run.end; at += 1) {
      const index = run.indexes[at] ?? 0
      const number = numbers[index] ?? 0
      if (persons[number] === 0 && others[number] === 0) this.#numbers.push(number)
      const counts = clicks.flags[index] === 0 ? persons : others
      counts[number] = (counts[number] ?? 0) + (clicks.count[index] ?? 0)
    }
  }

  take(pass: (number: number, persons: number, others: number) => void): void {
    for (const number of this.#numbers) {
      pass(number, this.#persons[number] ?? 0, this.#others[number] ?? 0)
      this.#persons[number] = 0
      this.#others[number] = 0
    }
    this.#numbers.length = 0
  }
}

/** Shared scratch: empty between two uses. */
const byValue = new ValueCounts()

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
