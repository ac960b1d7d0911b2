import { CLICK_DIMENSIONS, type ClickDimension } from '../click.ts'
import type { SlotCounts } from '../report/day-of-clicks.ts'
import { DayTally } from '../tally/day-tally.ts'
import type { Counted } from './click-history.ts'

/** Shared scratch: cleared before each use, and never held across an `await`. */
const tally = new DayTally()

/** Decodes chunks of a subject's day. */
export function countedIn(chunks: Uint8Array): Counted {
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

function slotsBetween(
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
