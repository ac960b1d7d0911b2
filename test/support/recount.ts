import {
  CLICK_FLAGS,
  type Click,
  type ClickDimension,
  countVisits,
  UNKNOWN_VISITOR,
} from '../../src/clicks/click.ts'
import type { DayOfClicks, SlotCounts, Tally } from '../../src/clicks/report/day-of-clicks.ts'

const DAY_MICROS = 86_400_000_000
const MINUTE_MICROS = 60_000_000
const SLOT_MICROS = 900_000_000

/**
 * The expected reports of clicks, counted in the simplest way; visitors are correct while they are
 * counted exactly.
 */
export function recount(
  clicks: readonly Click[],
  options: { dimension?: ClickDimension; slots: boolean },
): DayOfClicks[] {
  const { dimension, slots } = options
  const days = Map.groupBy(clicks, ({ at }) => Math.floor(at / DAY_MICROS))
  return [...days]
    .sort(([a], [b]) => a - b)
    .map(([day, ofDay]) => {
      const persons = ofDay.filter(({ flags }) => flags === 0)
      const values =
        dimension === undefined ? new Map() : Map.groupBy(ofDay, (click) => click[dimension])
      return {
        day,
        total: tally(ofDay, slots),
        visitors: persons.some(({ visitor }) => visitor === UNKNOWN_VISITOR)
          ? null
          : new Set(persons.map(({ visitor }) => visitor)).size,
        values: new Map([...values].map(([value, ofValue]) => [value, tally(ofValue, slots)])),
      }
    })
}

function tally(clicks: readonly Click[], withSlots: boolean): Tally {
  const slots = Map.groupBy(clicks, ({ at }) =>
    Math.floor((((at % DAY_MICROS) + DAY_MICROS) % DAY_MICROS) / SLOT_MICROS),
  )
  return {
    ...count(clicks),
    slots: withSlots
      ? [...slots]
          .sort(([a], [b]) => a - b)
          .map(([slot, ofSlot]): SlotCounts => ({ slot, ...count(ofSlot) }))
      : [],
  }
}

function count(clicks: readonly Click[]) {
  const persons = countVisits(clicks.filter(({ flags }) => flags === 0))
  return { persons, others: countVisits(clicks) - persons }
}

/**
 * Returns the same clicks, with those beyond the cap added together by link and minute: the number
 * of their rows depends on the batches in which they were ingested.
 */
export function joinCapped(clicks: readonly Click[]): readonly Click[] {
  const kept = clicks.filter(({ flags }) => flags !== CLICK_FLAGS.capped)
  const capped = clicks
    .filter(({ flags }) => flags === CLICK_FLAGS.capped)
    .map((click) => ({ ...click, at: Math.floor(click.at / MINUTE_MICROS) * MINUTE_MICROS }))
  const joined = Map.groupBy(capped, (click) => `${click.link_seq} ${click.at}`)
  return [
    ...kept,
    ...[...joined.values()].flatMap(([first, ...more]) =>
      first === undefined ? [] : { ...first, count: first.count + countVisits(more) },
    ),
  ]
}
