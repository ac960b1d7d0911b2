import { ByteReader, ByteWriter } from '../../platform/bytes/bytes.ts'
import { CLICK_DIMENSIONS, type ClickDimension, VISITOR_DIMENSIONS } from '../click.ts'
import type { SlotCounts } from '../report/day-of-clicks.ts'
import { dimensionsAfter, dimensionsTag, readSlots, TALLY } from './day-format.ts'
import { VisitorSketch } from './visitor-sketch.ts'

/** What was counted of a subject on a day. Unlike a `DayTally`, it keeps all values, however many. */
export type DayCounts = {
  readonly slots: readonly SlotCounts[]
  /** Of `SPARSE_DIMENSIONS` without the value ''. */
  readonly values: ReadonlyMap<ClickDimension, ReadonlyMap<string, readonly SlotCounts[]>>
  readonly visitors: VisitorSketch
}

/** Shared scratch: empty between two uses. */
const writer = new ByteWriter()

/** Encodes it as a chunk of a day (day-format.ts). */
export function encodeDay({ slots, values, visitors }: DayCounts): Buffer {
  const last = CLICK_DIMENSIONS.findLastIndex((dimension) => (values.get(dimension)?.size ?? 0) > 0)
  const tag = dimensionsTag(Math.max(last + 1, VISITOR_DIMENSIONS.length))
  if (tag !== undefined) writer.byte(tag)
  writer.byte(TALLY)
  writeSlots(slots)
  visitors.write(writer)
  const dimensions = tag === undefined ? VISITOR_DIMENSIONS.length : dimensionsAfter(tag)
  for (const dimension of CLICK_DIMENSIONS.slice(0, dimensions)) {
    const ofDimension = values.get(dimension)
    writer.varint(ofDimension?.size ?? 0)
    for (const [value, counts] of ofDimension ?? []) {
      const bytes = Buffer.from(value)
      writer.byte(bytes.length)
      writer.bytes(bytes)
      writeSlots(counts)
    }
  }
  return writer.take()
}

function writeSlots(slots: readonly SlotCounts[]): void {
  writer.varint(slots.length)
  for (const { slot, persons, others } of slots) {
    writer.byte(slot)
    writer.varint(persons)
    writer.varint(others)
  }
}

/** Decodes the output of `encodeDay`. */
export function decodeDay(chunk: Uint8Array): DayCounts {
  const reader = new ByteReader(chunk)
  const first = reader.byte()
  const dimensions = dimensionsAfter(first)
  if (dimensions !== undefined) reader.byte()
  const slots = readSlots(reader)
  const visitors = new VisitorSketch()
  visitors.read(reader)
  const values = new Map<ClickDimension, ReadonlyMap<string, readonly SlotCounts[]>>()
  for (const dimension of CLICK_DIMENSIONS.slice(0, dimensions ?? VISITOR_DIMENSIONS.length)) {
    const ofDimension = new Map<string, readonly SlotCounts[]>()
    for (let left = reader.varint(); left > 0; left -= 1) {
      const value = reader.bytes(reader.byte()).toString('utf8')
      ofDimension.set(value, readSlots(reader))
    }
    values.set(dimension, ofDimension)
  }
  return { slots, values, visitors }
}
