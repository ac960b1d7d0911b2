import { CLICK_DIMENSIONS, type Click } from '../../src/clicks/click.ts'
import type { SlotCounts, Tally } from '../../src/clicks/report/day-of-clicks.ts'
import { DayTally, OTHER_VALUE, VALUES_MAX } from '../../src/clicks/tally/day-tally.ts'

const SLOT_MICROS = 900_000_000
const DAY_MICROS = 96 * SLOT_MICROS

/** What a day's clicks add up to. */
export type DayContents = {
  readonly total: Tally
  readonly visitors: number | null
  /** The tallies by value, for each dimension in their order. */
  readonly values: readonly (readonly (readonly [string, Tally])[])[]
}

/** Reads everything that a tally holds. */
export function contentsOf(tally: DayTally): DayContents {
  return {
    total: tally.total(true),
    visitors: tally.visitors,
    values: CLICK_DIMENSIONS.map((dimension) => sorted(tally.values(dimension, true))),
  }
}

/** Reads everything that the chunks of a day hold. */
export function contentsOfChunks(chunks: Uint8Array): DayContents {
  const tally = new DayTally()
  tally.addChunks(chunks)
  return contentsOf(tally)
}

/** Counts clicks one by one, in the plainest way. Their visitors must be few enough to be counted exactly. */
export function countClicks(clicks: readonly Click[]): DayContents {
  const visitors = new Set(clicks.filter(({ flags }) => flags === 0).map(({ visitor }) => visitor))
  return {
    total: tallyOf(clicks),
    visitors: visitors.has(0) ? null : visitors.size,
    values: CLICK_DIMENSIONS.map((dimension) => {
      const ofValues = Map.groupBy(clicks, (click) => click[dimension])
      return sorted(limit(ofValues), tallyOf)
    }),
  }
}

function limit(ofValues: ReadonlyMap<string, Click[]>): ReadonlyMap<string, Click[]> {
  const ranked = [...ofValues]
    .filter(([value]) => value !== OTHER_VALUE)
    .map(([value, clicks]) => ({ value, clicks, sum: sumOf(clicks) }))
    .sort((a, b) => b.sum - a.sum || (a.value < b.value ? -1 : 1))
  if (ranked.length <= VALUES_MAX) return ofValues
  const others = ranked.splice(VALUES_MAX).flatMap(({ clicks }) => clicks)
  return new Map([
    ...ranked.map(({ value, clicks }) => [value, clicks] as const),
    [OTHER_VALUE, [...(ofValues.get(OTHER_VALUE) ?? []), ...others]],
  ])
}

function sorted<T>(values: ReadonlyMap<string, T>, read: (of: T) => Tally = (of) => of as Tally) {
  return [...values]
    .map(([value, of]) => [value, read(of)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function tallyOf(clicks: readonly Click[]): Tally {
  const bySlot = Map.groupBy(clicks, ({ at }) =>
    Math.floor((((at % DAY_MICROS) + DAY_MICROS) % DAY_MICROS) / SLOT_MICROS),
  )
  const slots: SlotCounts[] = [...bySlot]
    .sort(([a], [b]) => a - b)
    .map(([slot, ofSlot]) => ({ slot, ...countsOf(ofSlot) }))
  return { ...countsOf(clicks), slots }
}

function countsOf(clicks: readonly Click[]) {
  const isPerson = ({ flags }: Click) => flags === 0
  return {
    persons: sumOf(clicks.filter(isPerson)),
    others: sumOf(clicks.filter((click) => !isPerson(click))),
  }
}

function sumOf(clicks: readonly Click[]): number {
  return clicks.reduce((sum, { count }) => sum + count, 0)
}
