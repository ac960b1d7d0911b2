import type { ByteReader } from '../../platform/bytes/byte-reader.ts'
import type { SlotCounts, Tally } from '../report/day-of-clicks.ts'
import { partReader, readSlots } from './day-format.ts'
import { ValueNumbers } from './value-numbers.ts'
import type { ValueTotals } from './value-totals.ts'

/*
 * Reads the parts with the values of a dimension (day-format.ts) of days to which nothing has to be added.
 */

/** Shared by all values that are read without slots, because there are many. */
const NO_SLOTS: readonly SlotCounts[] = []

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
    if (value === undefined) skipSlots(reader)
    else tallies.set(value, tallyOf(readSlots(reader)))
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

function tallyOf(slots: readonly SlotCounts[]): Tally {
  const sum = { persons: 0, others: 0 }
  for (const { persons, others } of slots) {
    sum.persons += persons
    sum.others += others
  }
  return { ...sum, slots }
}

function skipSlots(reader: ByteReader): void {
  for (let count = reader.varint(); count > 0; count -= 1) {
    reader.byte()
    reader.skipVarint()
    reader.skipVarint()
  }
}
