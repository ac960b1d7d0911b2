import { ByteReader } from '../../platform/bytes/byte-reader.ts'
import type { ByteWriter } from '../../platform/bytes/byte-writer.ts'
import { CLICK_DIMENSIONS, type ClickDimension } from '../click.ts'
import { type ClickColumns, VALUE_COLUMNS } from '../click-columns.ts'
import type { Counts, SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { SLOTS_PER_DAY, slotOf } from './click-day.ts'
import type { DayTally } from './day-tally.ts'
import { SlotTally } from './slot-tally.ts'
import { ValueNumbers } from './value-numbers.ts'
import type { ValueTotals } from './value-totals.ts'
import type { VisitorSketch } from './visitor-sketch.ts'

/*
 * The storage format of a day's tallies. Recent clicks are a sequence of chunks, so that adding clicks is an
 * append without a read. A chunk is one click:
 *
 *     slot      1 byte   0 to 95; 128 to 223 if the click is not a person's
 *     visitor   7 bytes  only if the click is a person's
 *     values    of each dimension: length (1 byte) and text
 *
 * or a tally:
 *
 *     241       1 byte   the version of this format
 *     total     slots
 *     visitors  the sketch
 *     values    of each dimension: the number of values, then each value's text and slots
 *
 * Slots are stored as their number, then for each one the slot, people's clicks and other clicks (varints).
 * Large days are stored in parts instead, so that a reader of day sums skips the slots, and a reader of one
 * dimension skips the others. A part is a version byte and the output of its encoder.
 */
const OTHERS = 128
/** The tag of a tally. */
export const TALLY = 241
const PART_VERSION = 1
/** Of a part with the day's sums that has no visitor count, because it is unknown. */
const VISITORS_UNKNOWN = 2

/** Shared by all values that are read without slots, because there are many. */
const NO_SLOTS: readonly SlotCounts[] = []

/**
 * Writes the chunk of one click. For a few clicks this takes less space than a tally, for many more. The
 * count of the click must be 1.
 */
export function writeClick(writer: ByteWriter, clicks: ClickColumns, index: number): void {
  const slot = slotOf(clicks.at[index] ?? 0)
  if (clicks.flags[index] === 0) {
    writer.byte(slot)
    writer.uint56(clicks.visitor[index] ?? 0)
  } else {
    writer.byte(slot + OTHERS)
  }
  for (let column = 0; column < VALUE_COLUMNS.length; column += 1) {
    const { bytes, start, end } = clicks.textRange(column, index)
    writer.copy(bytes, start, end)
  }
}

export function writeTally(writer: ByteWriter, tally: DayTally): void {
  writer.byte(TALLY)
  writeSlots(writer, tally.total)
  tally.visitors.write(writer)
  for (const dimension of CLICK_DIMENSIONS) writeValues(writer, tally, dimension)
}

/** Reads all chunks into a tally. */
export function readChunks(chunks: Uint8Array, into: DayTally): void {
  const reader = new ByteReader(chunks)
  while (!reader.ended) {
    const tag = reader.byte()
    if (tag === TALLY) readTally(reader, into)
    else readClick(reader, tag, into)
  }
}

function readTally(reader: ByteReader, into: DayTally): void {
  readSlots(reader, into.total)
  into.visitors.read(reader)
  for (const dimension of CLICK_DIMENSIONS) readValues(reader, into, dimension)
}

/** Returns what the first byte of a click's chunk says. */
export function clickTag(tag: number): SlotCounts {
  const isPerson = tag < OTHERS
  const slot = isPerson ? tag : tag - OTHERS
  if (slot >= SLOTS_PER_DAY) throw new RangeError(`unknown chunk format: ${tag}`)
  return { slot, persons: isPerson ? 1 : 0, others: isPerson ? 0 : 1 }
}

function readClick(reader: ByteReader, tag: number, into: DayTally): void {
  const { slot, persons, others } = clickTag(tag)
  into.total.add(slot, persons, others)
  if (persons > 0) into.visitors.add(reader.uint56())
  for (const dimension of CLICK_DIMENSIONS) {
    into.valueOf(dimension, reader.shortText()).add(slot, persons, others)
  }
}

/** Writes the part with the day's sums and visitor count, followed by its slots. */
export function writeTotal(writer: ByteWriter, tally: DayTally): void {
  const visitors = tally.visitors.count()
  writer.byte(visitors === null ? VISITORS_UNKNOWN : PART_VERSION)
  writer.varint(tally.total.persons)
  writer.varint(tally.total.others)
  if (visitors !== null) writer.varint(visitors)
  writeSlots(writer, tally.total)
}

export type TotalPart = Counts & {
  /** Null if unknown. */
  readonly visitors: number | null
  readonly slots: SlotTally
}

/** @param withSlots whether to read the slots too */
export function readTotal(part: Uint8Array, withSlots: boolean): TotalPart {
  const hasVisitors = part[0] !== VISITORS_UNKNOWN
  const reader = partReader(part, hasVisitors ? PART_VERSION : VISITORS_UNKNOWN)
  const persons = reader.varint()
  const others = reader.varint()
  const visitors = hasVisitors ? reader.varint() : null
  const slots = new SlotTally()
  if (withSlots) readSlots(reader, slots)
  return { persons, others, visitors, slots }
}

export function writeVisitors(writer: ByteWriter, tally: DayTally): void {
  writer.byte(PART_VERSION)
  tally.visitors.write(writer)
}

export function readVisitors(part: Uint8Array, into: VisitorSketch): void {
  into.read(partReader(part))
}

/** Writes a dimension's values with their sums of the day. */
export function writeSums(writer: ByteWriter, tally: DayTally, dimension: ClickDimension): void {
  const values = tally.values(dimension)
  writer.byte(PART_VERSION)
  writer.varint(values.size)
  for (const [value, { persons, others }] of values) {
    writer.shortText(value)
    writer.varint(persons)
    writer.varint(others)
  }
}

/** Adds a dimension's values to the sums of other days. */
export function addSums(part: Uint8Array, into: ValueTotals): void {
  const reader = partReader(part)
  for (let count = reader.varint(); count > 0; count -= 1) {
    const length = reader.byte()
    const at = reader.skip(length)
    into.add(reader.source, at, at + length, reader.varint(), reader.varint())
  }
}

/** @param wanted the values to read; defaults to all */
export function readSums(part: Uint8Array, wanted?: ReadonlySet<string>): Map<string, Tally> {
  const reader = partReader(part)
  const wantedBytes = wanted && bytesOf(wanted)
  const sums = new Map<string, Tally>()
  for (let count = reader.varint(); count > 0; count -= 1) {
    const value = wantedText(reader, wantedBytes)
    if (value === undefined) {
      reader.skipVarint()
      reader.skipVarint()
    } else {
      sums.set(value, { persons: reader.varint(), others: reader.varint(), slots: NO_SLOTS })
    }
  }
  return sums
}

/** Writes a dimension's values with their slots. */
export function writeValueSlots(
  writer: ByteWriter,
  tally: DayTally,
  dimension: ClickDimension,
): void {
  writer.byte(PART_VERSION)
  writeValues(writer, tally, dimension)
}

export function readValueSlots(part: Uint8Array, into: DayTally, dimension: ClickDimension): void {
  readValues(partReader(part), into, dimension)
}

/**
 * Reads the same part for use without further additions.
 *
 * @param wanted the values to read; defaults to all
 */
export function readTallies(part: Uint8Array, wanted?: ReadonlySet<string>): Map<string, Tally> {
  const reader = partReader(part)
  const wantedBytes = wanted && bytesOf(wanted)
  const tallies = new Map<string, Tally>()
  for (let count = reader.varint(); count > 0; count -= 1) {
    const value = wantedText(reader, wantedBytes)
    if (value === undefined) skipSlots(reader)
    else tallies.set(value, readOne(reader))
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
    : reader.source.toString('latin1', at, end)
}

/** The bytes of each set of values, so that other values need not be decoded. */
const numbersOfSets = new WeakMap<ReadonlySet<string>, ValueNumbers>()

function bytesOf(wanted: ReadonlySet<string>): ValueNumbers {
  let numbers = numbersOfSets.get(wanted)
  if (numbers === undefined) {
    numbers = new ValueNumbers()
    for (const value of wanted) {
      const bytes = Buffer.from(value, 'latin1')
      numbers.numberOf(bytes, 0, bytes.length)
    }
    numbersOfSets.set(wanted, numbers)
  }
  return numbers
}

function readOne(reader: ByteReader): Tally {
  const slots: SlotCounts[] = []
  const sum = { persons: 0, others: 0 }
  for (let count = reader.varint(); count > 0; count -= 1) {
    const slot = { slot: reader.byte(), persons: reader.varint(), others: reader.varint() }
    sum.persons += slot.persons
    sum.others += slot.others
    slots.push(slot)
  }
  return { ...sum, slots }
}

function partReader(part: Uint8Array, expected = PART_VERSION): ByteReader {
  const reader = new ByteReader(part)
  const version = reader.byte()
  if (version !== expected) throw new RangeError(`unknown part format: ${version}`)
  return reader
}

function writeValues(writer: ByteWriter, tally: DayTally, dimension: ClickDimension): void {
  const values = tally.values(dimension)
  writer.varint(values.size)
  for (const [value, slots] of values) {
    writer.shortText(value)
    writeSlots(writer, slots)
  }
}

function readValues(reader: ByteReader, into: DayTally, dimension: ClickDimension): void {
  for (let count = reader.varint(); count > 0; count -= 1) {
    readSlots(reader, into.valueOf(dimension, reader.shortText()))
  }
}

function skipSlots(reader: ByteReader): void {
  for (let count = reader.varint(); count > 0; count -= 1) {
    reader.byte()
    reader.skipVarint()
    reader.skipVarint()
  }
}

function writeSlots(writer: ByteWriter, tally: SlotTally): void {
  writer.varint(tally.size)
  for (const { slot, persons, others } of tally.slots()) {
    writer.byte(slot)
    writer.varint(persons)
    writer.varint(others)
  }
}

function readSlots(reader: ByteReader, into: SlotTally): void {
  for (let count = reader.varint(); count > 0; count -= 1) {
    const slot = reader.byte()
    const persons = reader.varint()
    into.add(slot, persons, reader.varint())
  }
}
