import { nextLoopTurn } from '../../platform/work/loop-turns.ts'
import type { ClickDimension } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { planDays } from '../tally/day-plan.ts'
import { TallySum } from '../tally/tally-sum.ts'
import { type ClickFilter, isWantedClick, isWantedValue } from './click-filter.ts'
import type { ClickScope, DayOfClicks, RawClick, Tally } from './day-of-clicks.ts'
import { QUARTER_MICROS, QUARTERS_PER_DAY } from './intervals.ts'

/** `values` are the wanted ones and `wanted` is their sum; `total` is that of all the day's clicks. */
type WantedDay = DayOfClicks & { readonly wanted: Tally }

/**
 * Reads the days that intervals with these cuts need, in ascending order, with the slots of those
 * that are cut.
 *
 * @param values wants those of the dimension alone
 */
export type DaySource = (
  cuts: readonly number[],
  values?: ReadonlySet<string>,
) => AsyncIterable<WantedDay>

/**
 * The sums that are kept, which know one dimension at a time.
 *
 * @param dimension the one that is filtered, grouped by, or both
 */
export function rollupDays(
  reports: ClickReports,
  scope: ClickScope,
  filter: ClickFilter,
  dimension: ClickDimension | undefined,
): DaySource {
  return async function* read(cuts, values) {
    for (const { fromDay, toDay, slots } of planDays(cuts, dimension !== undefined)) {
      const options = { slots, values, ...(dimension !== undefined && { dimension }) }
      for (const day of await reports.readDays(scope, fromDay, toDay, options)) {
        yield dimension === undefined || (filter.size === 0 && values === undefined)
          ? { ...day, wanted: day.total }
          : wantedOf(day, (value) =>
              values === undefined ? isWantedValue(filter, dimension, value) : values.has(value),
            )
      }
      // Others wait meanwhile: a year of many values takes a while to add up.
      await nextLoopTurn()
    }
  }
}

function wantedOf(day: DayOfClicks, isWanted: (value: string) => boolean): WantedDay {
  const values = new Map([...day.values].filter(([value]) => isWanted(value)))
  const sum = new TallySum()
  for (const tally of values.values()) sum.add(tally)
  return { ...day, values, wanted: sum.finish() }
}

/**
 * Single clicks, added up to days; keeps the sums and no click.
 *
 * @returns with the number of visits that all of the clicks stand for, whether wanted or not
 */
export async function sumUpDays(
  batches: AsyncIterable<readonly RawClick[]>,
  filter: ClickFilter,
  dimension: ClickDimension | undefined,
): Promise<{ source: DaySource; visits: number }> {
  const days = new Map<number, DaySum>()
  let visits = 0
  for await (const batch of batches) {
    for (const click of batch) {
      visits += click.count
      if (!isWantedClick(filter, click)) continue
      const quarter = Math.floor(click.at / QUARTER_MICROS)
      const day = Math.floor(quarter / QUARTERS_PER_DAY)
      const sum = days.get(day) ?? new DaySum()
      days.set(day, sum)
      sum.add(quarter - day * QUARTERS_PER_DAY, click, dimension)
    }
    await nextLoopTurn()
  }
  const summed = [...days].sort(([a], [b]) => a - b).map(([day, sum]) => sum.finish(day))
  const source: DaySource = async function* read() {
    yield* summed
  }
  return { source, visits }
}

class DaySum {
  readonly #total = new TallySum()
  readonly #visitors = new Set<number>()
  readonly #values = new Map<string, TallySum>()

  add(slot: number, click: RawClick, dimension: ClickDimension | undefined): void {
    this.#total.addClick(slot, click)
    if (click.flags === 0) this.#visitors.add(click.visitor)
    if (dimension === undefined) return
    const value = click[dimension]
    const sum = this.#values.get(value) ?? new TallySum()
    this.#values.set(value, sum)
    sum.addClick(slot, click)
  }

  finish(day: number): WantedDay {
    const total = this.#total.finish()
    const values = new Map([...this.#values].map(([value, sum]) => [value, sum.finish()]))
    return { day, total, wanted: total, visitors: this.#visitors.size, values }
  }
}
