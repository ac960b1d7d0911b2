import { type Click, countVisits } from '../../../src/clicks/click.ts'
import type { DayOfClicks, RawClick, Tally } from '../../../src/clicks/report/day-of-clicks.ts'
import type { ClickReports } from '../../../src/clicks/store/click-reports.ts'

const DAY_MICROS = 86_400_000_000
const QUARTER_MICROS = 900_000_000

/** Click reports over clicks in memory, the same for every scope. */
export function fakeReports(clicks: readonly RawClick[], batchSize = 100): ClickReports {
  const sorted = clicks.toSorted((a, b) => a.at - b.at)
  return {
    daysPerRead: { total: 366, values: 31, valuesWithSlots: 7 },

    async readDays(_scope, fromDay, toDay, { dimension, slots }) {
      const days = Map.groupBy(sorted, ({ at }) => Math.floor(at / DAY_MICROS))
      return [...days]
        .filter(([day]) => fromDay <= day && day <= toDay)
        .map(([day, ofDay]): DayOfClicks => {
          const values = dimension ? Map.groupBy(ofDay, (click) => click[dimension]) : new Map()
          return {
            day,
            total: tallyOf(ofDay, slots),
            visitors: visitorsOf(ofDay),
            values: new Map([...values].map(([value, own]) => [value, tallyOf(own, slots)])),
          }
        })
    },
    async readDaysOfLinks() {
      throw new Error('reports of one subject read no links')
    },
    async daysWithClicks() {
      throw new Error('only exports read which days there are')
    },
    linkCounts() {
      throw new Error('single clicks are added up by link in a database only')
    },
    async linkIds() {
      throw new Error('single clicks are added up by link in a database only')
    },
    async *rawClicks(_scope, fromMicros, toMicros) {
      const wanted = sorted.filter(({ at }) => fromMicros <= at && at < toMicros)
      for (let begin = 0; begin < wanted.length; begin += batchSize) {
        yield wanted.slice(begin, begin + batchSize)
      }
    },
  }
}

export function visitorsOf(clicks: readonly Click[]): number {
  return new Set(clicks.filter(({ flags }) => flags === 0).map(({ visitor }) => visitor)).size
}

function tallyOf(clicks: readonly Click[], slots: boolean): Tally {
  const count = (some: readonly Click[]) => {
    const persons = countVisits(some.filter(({ flags }) => flags === 0))
    return { persons, others: countVisits(some) - persons }
  }
  const bySlot = Map.groupBy(clicks, ({ at }) => Math.floor((at % DAY_MICROS) / QUARTER_MICROS))
  return {
    ...count(clicks),
    slots: slots ? [...bySlot].map(([slot, some]) => ({ slot, ...count(some) })) : [],
  }
}
