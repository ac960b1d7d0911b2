import { QUARTERS_PER_DAY } from '../report/intervals.ts'

/** Days per read, limited to bound memory and the time on the event loop. */
const DAYS_PER_READ = { total: 366, values: 31, valuesWithSlots: 7 }

/** Consecutive days, both ends included, and whether their slots are needed. */
export type DaySpan = { readonly fromDay: number; readonly toDay: number; readonly slots: boolean }

/**
 * Divides the days of the intervals into spans to read at once. Only days that an interval boundary divides
 * need their slots.
 *
 * @param byValue whether the values of a dimension are read
 */
export function planDays(cuts: readonly number[], byValue: boolean): readonly DaySpan[] {
  const cutDays = new Set<number>()
  for (const cut of cuts) {
    if (cut % QUARTERS_PER_DAY !== 0) cutDays.add(Math.floor(cut / QUARTERS_PER_DAY))
  }
  const from = Math.floor((cuts[0] ?? 0) / QUARTERS_PER_DAY)
  const to = Math.ceil((cuts.at(-1) ?? 0) / QUARTERS_PER_DAY)
  const spans: DaySpan[] = []
  let begin = from
  for (let day = from; day < to; day += 1) {
    const slots = cutDays.has(begin)
    const size = day - begin + 1
    const isLast = day + 1 === to || cutDays.has(day + 1) !== slots
    if (!isLast && size < sizeMax(byValue, slots)) continue
    spans.push({ fromDay: begin, toDay: day, slots })
    begin = day + 1
  }
  return spans
}

function sizeMax(byValue: boolean, slots: boolean): number {
  if (!byValue) return DAYS_PER_READ.total
  return slots ? DAYS_PER_READ.valuesWithSlots : DAYS_PER_READ.values
}
