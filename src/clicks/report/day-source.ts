import { yieldToEventLoop } from '../../platform/work/yield-to-event-loop.ts'
import { type ClickDimension, UNKNOWN_VISITOR } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { planDays } from '../tally/day-tally.ts'
import { TallySum } from '../tally/slot-tally.ts'
import type { ValueTotals } from '../tally/values.ts'
import { type ClickFilter, valueMatchesFilter } from './click-filter.ts'
import type { ClickSelection } from './click-selection.ts'
import type { ClickScope, DayOfClicks, RawClick, Tally } from './day-of-clicks.ts'
import { QUARTER_MICROS, QUARTERS_PER_DAY } from './intervals.ts'

/** `values` holds the selected values, `wanted` their sum, and `total` counts all clicks of the day. */
type WantedDay = DayOfClicks & { readonly wanted: Tally }

/**
 * Reads the days of the intervals with these cuts, in ascending order. Days that an interval boundary divides
 * have slots.
 *
 * @param options.values limits the values of the dimension
 * @param options.totals if every value is wanted, those of days without slots may be added here instead of to the
 *   day's `values`, which is then empty
 */
export type DaySource = (
  cuts: readonly number[],
  options?: { readonly values?: ReadonlySet<string>; readonly totals?: ValueTotals },
) => AsyncIterable<WantedDay>

/**
 * Reads days from the stored sums, which exist for one dimension at a time.
 *
 * @param dimension the dimension to filter or group by
 * @param signal ends the reading when it aborts
 */
export function rollupDays(
  reports: ClickReports,
  scope: ClickScope,
  filter: ClickFilter,
  dimension: ClickDimension | undefined,
  signal?: AbortSignal,
): DaySource {
  return async function* read(cuts, { values, totals } = {}) {
    const isAll = filter.size === 0 && values === undefined
    for (const { fromDay, toDay, slots } of planDays(cuts, dimension !== undefined)) {
      const options = {
        slots,
        values,
        ...(dimension !== undefined && { dimension }),
        ...(isAll && { totals }),
      }
      for (const day of await reports.readDays(scope, fromDay, toDay, options)) {
        yield dimension === undefined || isAll
          ? { ...day, wanted: day.total }
          : wantedOf(day, (value) =>
              values === undefined
                ? valueMatchesFilter(filter, dimension, value)
                : values.has(value),
            )
      }
      // Adding up a year of many values takes long enough to delay visitors.
      await yieldToEventLoop(signal)
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
 * Adds up raw clicks by day, without keeping the clicks.
 *
 * @returns the days, and the number of visits of all clicks, selected or not
 */
export async function sumUpDays(
  batches: AsyncIterable<readonly RawClick[]>,
  selection: ClickSelection,
): Promise<{ source: DaySource; visits: number }> {
  const days = new Map<number, DaySum>()
  let visits = 0
  for await (const batch of batches) {
    await selection.prepare(batch)
    for (const click of batch) {
      visits += click.count
      if (!selection.matches(click)) continue
      const quarter = Math.floor(click.at / QUARTER_MICROS)
      const day = Math.floor(quarter / QUARTERS_PER_DAY)
      const sum = days.get(day) ?? new DaySum()
      days.set(day, sum)
      sum.add(quarter - day * QUARTERS_PER_DAY, click, selection.valuesOf(click))
    }
    await yieldToEventLoop()
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

  add(slot: number, click: RawClick, values: readonly string[]): void {
    this.#total.addClick(slot, click)
    if (click.flags === 0) this.#visitors.add(click.visitor)
    for (const value of values) {
      const sum = this.#values.get(value) ?? new TallySum()
      this.#values.set(value, sum)
      sum.addClick(slot, click)
    }
  }

  finish(day: number): WantedDay {
    const total = this.#total.finish()
    const values = new Map([...this.#values].map(([value, sum]) => [value, sum.finish()]))
    const visitors = this.#visitors.has(UNKNOWN_VISITOR) ? null : this.#visitors.size
    return { day, total, wanted: total, visitors, values }
  }
}
