import { ByteReader, type ByteWriter } from '../../platform/bytes/bytes.ts'
import { CLICK_DIMENSIONS, UNLABELLED_COUNT, UNPLACED_COUNT, VISITOR_DIMENSIONS } from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import type { Counts, SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { SLOTS_PER_DAY, slotOf } from './click-day.ts'
import { ValueNumbers, type ValueTotals } from './values.ts'

/*
 * The storage format of a day's tallies. Recent clicks are a sequence of chunks, so that adding clicks is an
 * append without a read. A chunk is one click:
 *
 *     slot      1 byte   0 to 95; 128 to 223 if the click is not a person's
 *     visitor   7 bytes  only if the click is a person's
 *     values    of each of VISITOR_DIMENSIONS: length (1 byte) and text
 *
 * or a tally:
 *
 *     241       1 byte   the version of this format
 *     total     slots
 *     visitors  the sketch
 *     values    of each of VISITOR_DIMENSIONS: the number of values, then each value's text and slots
 *
 * Before a chunk with rules and variants, which are then behind the values of VISITOR_DIMENSIONS, or with those and labels, or
 * with all three and places:
 *
 *     242, 243, 244  1 byte
 *
 * Of SPARSE_DIMENSIONS the value '' is not stored: it has all clicks that no other value has, so a day without rules
 * takes nothing more. Slots are stored as their number, then for each one the slot, people's clicks and other clicks (varints).
 * Large days are stored in parts instead, so that a reader of day sums skips the slots, and a reader of one
 * dimension skips the others. A part is a version byte and the output of its encoder.
 */
const OTHERS = 128
/** The tag of a tally. */
export const TALLY = 241
/** The tag before a chunk with values of rules. */
const WITH_RULES = 242
/** The tag before a chunk with values of rules and labels. */
const WITH_LABELS = 243
/** The tag before a chunk with values of rules, labels and places. */
const WITH_PLACES = 244
export const PART_VERSION = 1
/** Version of a part with the day's sums whose visitor count is unknown, so it has none. */
export const VISITORS_UNKNOWN = 2

/**
 * Returns the tag before a chunk; undefined for none.
 *
 * @param dimensions how many of `CLICK_DIMENSIONS` it has
 */
export function dimensionsTag(dimensions: number): number | undefined {
  if (dimensions > UNPLACED_COUNT) return WITH_PLACES
  if (dimensions > UNLABELLED_COUNT) return WITH_LABELS
  return dimensions > VISITOR_DIMENSIONS.length ? WITH_RULES : undefined
}

/** Returns how many of `CLICK_DIMENSIONS` a chunk has that follows this tag; undefined where it is no such tag. */
export function dimensionsAfter(tag: number): number | undefined {
  if (tag === WITH_RULES) return UNLABELLED_COUNT
  if (tag === WITH_LABELS) return UNPLACED_COUNT
  return tag === WITH_PLACES ? CLICK_DIMENSIONS.length : undefined
}

/**
 * Writes the chunk of one click. For a few clicks this takes less space than a tally, for many more. The
 * count of the click must be 1.
 */
export function writeClick(writer: ByteWriter, clicks: ClickColumns, index: number): void {
  const slot = slotOf(clicks.at[index] ?? 0)
  const dimensions = clicks.dimensionsOf(index)
  const tag = dimensionsTag(dimensions)
  if (tag !== undefined) writer.byte(tag)
  if (clicks.flags[index] === 0) {
    writer.byte(slot)
    writer.uint56(clicks.visitor[index] ?? 0)
  } else {
    writer.byte(slot + OTHERS)
  }
  for (let dimension = 0; dimension < dimensions; dimension += 1) {
    clicks.values[dimension]?.write(clicks.numbers[dimension]?.[index] ?? 0, writer)
  }
}

/** Returns what the first byte of a click's chunk says. */
export function clickTag(tag: number): SlotCounts {
  const isPerson = tag < OTHERS
  const slot = isPerson ? tag : tag - OTHERS
  if (slot >= SLOTS_PER_DAY) throw new RangeError(`unknown chunk format: ${tag}`)
  return { slot, persons: isPerson ? 1 : 0, others: isPerson ? 0 : 1 }
}

type TotalPart = Counts & {
  /** Null if unknown. */
  readonly visitors: number | null
  /** Empty unless they are read. */
  readonly slots: readonly SlotCounts[]
}

/** @param withSlots whether to read the slots too */
export function readTotal(part: Uint8Array, withSlots: boolean): TotalPart {
  const hasVisitors = part[0] !== VISITORS_UNKNOWN
  const reader = partReader(part, hasVisitors ? PART_VERSION : VISITORS_UNKNOWN)
  const persons = reader.varint()
  const others = reader.varint()
  const visitors = hasVisitors ? reader.varint() : null
  return { persons, others, visitors, slots: withSlots ? readSlots(reader) : [] }
}

export function readSlots(reader: ByteReader): SlotCounts[] {
  const slots: SlotCounts[] = []
  for (let count = reader.varint(); count > 0; count -= 1) {
    slots.push({ slot: reader.byte(), persons: reader.varint(), others: reader.varint() })
  }
  return slots
}

/** @throws {RangeError} for another version */
export function partReader(part: Uint8Array, expected = PART_VERSION): ByteReader {
  const reader = new ByteReader(part)
  const version = reader.byte()
  if (version !== expected) throw new RangeError(`unknown part format: ${version}`)
  return reader
}

/*
 * Reads the parts with the values of a dimension (day-format.ts) of days to which nothing has to be added.
 */

/** Shared by all values that are read without slots, because there are many. */
const NO_SLOTS: readonly SlotCounts[] = []

/** Adds a dimension's values to the sums of other days. Returns the sum of the values. */
export function addSums(part: Uint8Array, into: ValueTotals): Counts {
  const reader = partReader(part)
  const sum = { persons: 0, others: 0 }
  for (let count = reader.varint(); count > 0; count -= 1) {
    const length = reader.byte()
    const at = reader.skip(length)
    const persons = reader.varint()
    const others = reader.varint()
    into.add(reader.source, at, at + length, persons, others)
    sum.persons += persons
    sum.others += others
  }
  return sum
}

/** Returns the clicks of a day that have none of the values of a dimension; undefined if all have one. */
export function withoutValue(total: Tally, values: Iterable<Tally>): Tally | undefined {
  let { persons, others } = total
  const bySlot = new Map(total.slots.map((slot) => [slot.slot, { ...slot }]))
  for (const value of values) {
    persons -= value.persons
    others -= value.others
    for (const { slot, ...counts } of value.slots) {
      const left = bySlot.get(slot)
      if (left === undefined) continue
      left.persons -= counts.persons
      left.others -= counts.others
    }
  }
  if (persons + others <= 0) return undefined
  const slots = [...bySlot.values()].filter((left) => left.persons + left.others > 0)
  return { persons, others, slots }
}

/** @param wanted the values to read; defaults to all */
export function readSums(part: Uint8Array, wanted?: ReadonlySet<string>): Map<string, Tally> {
  const reader = partReader(part)
  const wantedBytes = wanted && bytesOf(wanted)
  const sums = new Map<string, Tally>()
  for (let count = reader.varint(); count > 0; count -= 1) {
    const value = wantedText(reader, wantedBytes)
    if (value === undefined) {
      reader.skipVarints(2)
    } else {
      sums.set(value, { persons: reader.varint(), others: reader.varint(), slots: NO_SLOTS })
      if (sums.size === wanted?.size) break
    }
  }
  return sums
}

/**
 * Reads values with their slots.
 *
 * @param wanted the values to read; defaults to all
 */
export function readTallies(part: Uint8Array, wanted?: ReadonlySet<string>): Map<string, Tally> {
  const reader = partReader(part)
  const wantedBytes = wanted && bytesOf(wanted)
  const tallies = new Map<string, Tally>()
  for (let count = reader.varint(); count > 0; count -= 1) {
    const value = wantedText(reader, wantedBytes)
    if (value === undefined) {
      // Of each slot its number, which is below 128, and two counts.
      reader.skipVarints(3 * reader.varint())
    } else {
      tallies.set(value, tallyOf(readSlots(reader)))
      if (tallies.size === wanted?.size) break
    }
  }
  return tallies
}

/** Reads a value's text; undefined if it is not wanted. */
function wantedText(reader: ByteReader, wanted: ValueNumbers | undefined): string | undefined {
  const length = reader.byte()
  const at = reader.skip(length)
  const end = at + length
  return wanted?.has(reader.source, at, end) === false
    ? undefined
    : reader.source.toString('utf8', at, end)
}

/** The bytes of each set of values, so that other values need not be decoded. */
const numbersOfSets = new WeakMap<ReadonlySet<string>, ValueNumbers>()

function bytesOf(wanted: ReadonlySet<string>): ValueNumbers {
  let numbers = numbersOfSets.get(wanted)
  if (numbers === undefined) {
    numbers = new ValueNumbers()
    for (const value of wanted) {
      const bytes = Buffer.from(value)
      numbers.numberOf(bytes, 0, bytes.length)
    }
    numbersOfSets.set(wanted, numbers)
  }
  return numbers
}

function tallyOf(slots: readonly SlotCounts[]): Tally {
  const sum = { persons: 0, others: 0 }
  for (const { persons, others } of slots) {
    sum.persons += persons
    sum.others += others
  }
  return { ...sum, slots }
}
