import type { Click, ClickDimension } from '../../src/domain/clicks/click.ts'
import type { DayOfClicks, SlotCounts, Tally } from '../../src/domain/clicks/click-reports.ts'

const DAY_MICROS = 86_400_000_000
const SLOT_MICROS = 900_000_000

/** What reports must say of clicks, counted anew in the plainest way; visitors as long as they are exact. */
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
        visitors: new Set(persons.map(({ visitor }) => visitor)).size,
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
  const persons = clicks.filter(({ flags }) => flags === 0).length
  return { persons, others: clicks.length - persons }
}
