import { ByteReader, ByteWriter } from '../../platform/bytes/bytes.ts'
import { CLICK_DIMENSIONS, type ClickDimension } from '../click.ts'
import type { SlotCounts } from '../report/day-of-clicks.ts'
import { type DayCounts, decodeDay } from '../tally/day-counts.ts'
import { DayTally, OTHER_VALUE } from '../tally/day-tally.ts'
import type { Counted } from './click-history.ts'

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/** No chunk begins with it. */
const PAIR = 250

/** Returns the chunks of a subject's day without those that came back from where they are moved to. */
export function withoutReturned(chunks: Uint8Array, returned: Uint8Array | undefined): Uint8Array {
  if (returned === undefined) return chunks
  const writer = new ByteWriter()
  writer.byte(PAIR)
  writer.varint(returned.length)
  return Buffer.concat([writer.take(), returned, chunks])
}

/** Decodes what `withoutReturned` returns. */
export function countedIn(data: Uint8Array): Counted {
  if (data[0] !== PAIR) return countedInChunks(data)
  const reader = new ByteReader(data)
  reader.byte()
  const returned = decodeDay(reader.bytes(reader.varint()))
  return subtract(countedInChunks(reader.rest()), returned)
}

/** A value that is not in the whole is one of its `OTHER_VALUE`, of which there are many then. */
function subtract(whole: Counted, { slots, values, visitors }: DayCounts): Counted {
  const left = differenceOf({ slots, values, visitors: visitors.count() }, whole)
  const folded = [...left.values].map(([dimension, ofDimension]) => {
    const others: SlotCounts[] = []
    const found = new Map<string, readonly SlotCounts[]>()
    for (const [value, counts] of ofDimension) {
      const lacks = ({ persons, others }: SlotCounts) => persons < 0 || others < 0
      if (value === OTHER_VALUE || counts.some(lacks)) others.push(...counts)
      else found.set(value, counts)
    }
    if (others.length > 0) found.set(OTHER_VALUE, sumsOf(others))
    return [dimension, found] as const
  })
  return {
    slots: left.slots,
    values: new Map(folded),
    visitors: left.visitors === null ? null : Math.max(0, left.visitors),
  }
}

function sumsOf(counts: readonly SlotCounts[]): readonly SlotCounts[] {
  return [...Map.groupBy(counts, ({ slot }) => slot)].map(([slot, ofSlot]) => ({
    slot,
    persons: Math.max(
      0,
      ofSlot.reduce((sum, { persons }) => sum + persons, 0),
    ),
    others: Math.max(
      0,
      ofSlot.reduce((sum, { others }) => sum + others, 0),
    ),
  }))
}

function countedInChunks(chunks: Uint8Array): Counted {
  tally.clear()
  tally.addChunks(chunks)
  const values = new Map<ClickDimension, ReadonlyMap<string, readonly SlotCounts[]>>()
  for (const dimension of CLICK_DIMENSIONS) {
    const tallies = [...tally.values(dimension, true)]
    values.set(dimension, new Map(tallies.map(([value, { slots }]) => [value, slots])))
  }
  return { slots: tally.total(true).slots, values, visitors: tally.visitors }
}

/** Returns what has to be added to `before` so that it becomes `after`; counts that are less are negative. */
export function differenceOf(before: Counted, after: Counted): Counted {
  const values = CLICK_DIMENSIONS.map((dimension) => {
    const old = before.values.get(dimension)
    const fresh = after.values.get(dimension)
    const names = new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])
    const differing = [...names].map(
      (name) => [name, slotsBetween(old?.get(name), fresh?.get(name))] as const,
    )
    return [dimension, new Map(differing)] as const
  })
  return {
    slots: slotsBetween(before.slots, after.slots),
    values: new Map(values),
    visitors: after.visitors === null ? null : after.visitors - (before.visitors ?? 0),
  }
}

export function slotsBetween(
  before: readonly SlotCounts[] = [],
  after: readonly SlotCounts[] = [],
): readonly SlotCounts[] {
  const bySlot = new Map(after.map((counts) => [counts.slot, counts]))
  for (const { slot, persons, others } of before) {
    const counts = bySlot.get(slot)
    bySlot.set(slot, {
      slot,
      persons: (counts?.persons ?? 0) - persons,
      others: (counts?.others ?? 0) - others,
    })
  }
  return [...bySlot.values()].filter(({ persons, others }) => persons !== 0 || others !== 0)
}
