import type { Fault } from '@terse/contract/faults'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { yieldToEventLoop } from '../../platform/work/async.ts'
import { SCAN_MS_MAX, type ScanLimits, ScanTooLong } from '../../storage/scans.ts'
import type { Store } from '../../storage/store.ts'
import { type ClickDimension, UNKNOWN_VISITOR } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { TallySum } from '../tally/day-tally.ts'
import type { ValueTotals } from '../tally/values.ts'
import {
  type ClickFilter,
  type ClickSelection,
  selectByDimensions,
  valueMatchesFilter,
} from './click-filter.ts'
import type { ClickScope, Counts, DayOfClicks, RawClick, Tally } from './day-of-clicks.ts'
import { planDays, QUARTER_MICROS, QUARTERS_PER_DAY, type Quarters } from './period.ts'

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
    const spans = planDays(cuts, dimension !== undefined, reports.daysPerRead)
    for (const { fromDay, toDay, slots } of spans) {
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
  return {
    ...day,
    values,
    // Added up when it is read: a series of groups needs only the values.
    get wanted() {
      const sum = new TallySum()
      for (const tally of values.values()) sum.add(tally)
      return sum.finish()
    },
  }
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

/** The maximum number of raw clicks that one report may read. */
const CLICKS_MAX = 1_000_000

const DAY_MICROS = QUARTERS_PER_DAY * QUARTER_MICROS

const NO_FILTER: ClickFilter = new Map()

export type RawDaysContext = {
  readonly store: Store<{ readonly reports: ClickReports }>
  readonly clock: Clock
  /** How long raw clicks are kept; 0 keeps them forever. */
  readonly retentionDays: number
}

type RawDaysQuery = {
  readonly scope: ClickScope
  readonly quarters: Quarters
  /** Ends the reading when it aborts. */
  readonly signal: AbortSignal | undefined
}

/** The raw clicks of a period, as far as a report may count them. */
export class RawDays {
  readonly #ctx: RawDaysContext
  readonly #query: RawDaysQuery
  readonly #names: readonly string[]
  #counted: Counts = { persons: 0, others: 0 }

  /** @param names of what needs raw clicks, for messages */
  constructor(ctx: RawDaysContext, query: RawDaysQuery, names: ReadonlySet<string>) {
    this.#ctx = ctx
    this.#query = query
    this.#names = [...names]
  }

  /**
   * Returns the sums of the period's days.
   *
   * @throws {Failure} `validation_failed` if raw clicks are too old to be kept, or too many
   */
  async count(): Promise<readonly DayOfClicks[]> {
    const { store, clock, retentionDays } = this.#ctx
    const { scope, quarters, signal } = this.#query
    const { from, to } = quarters
    const today = Math.floor(clock.nowMicros() / DAY_MICROS)
    if (retentionDays > 0 && from < (today - retentionDays) * QUARTERS_PER_DAY) {
      throw refusal({
        code: 'no_single_clicks',
        names: this.#names,
        reason: 'old',
        max: retentionDays,
      })
    }
    let visits = 0
    const days: DayOfClicks[] = []
    const counted = new Series([from, to])
    const source = rollupDays(store.read.reports, scope, NO_FILTER, undefined, signal)
    for await (const day of source([from, to])) {
      visits += day.total.persons + day.total.others
      counted.add(day.day, day.total)
      days.push(day)
    }
    if (visits > CLICKS_MAX) {
      throw refusal({
        code: 'no_single_clicks',
        names: this.#names,
        reason: 'many',
        max: CLICKS_MAX,
        clicks: visits,
      })
    }
    this.#counted = counted.counts(0)
    return days
  }

  /**
   * Reads all of them, after `count`.
   *
   * @param read returns how many visits it has read
   * @throws {Failure} `validation_failed` when reading takes too long, or if some were not kept
   */
  async read<T extends { readonly visits: number }>(
    read: (fromMicros: number, toMicros: number, limits: ScanLimits) => Promise<T>,
  ): Promise<T> {
    const { quarters, signal } = this.#query
    const { from, to } = quarters
    try {
      const limits = { msMax: SCAN_MS_MAX, signal }
      const found = await read(from * QUARTER_MICROS, to * QUARTER_MICROS, limits)
      const counted = this.#counted.persons + this.#counted.others
      if (found.visits >= counted) return found
      throw refusal({
        code: 'no_single_clicks',
        names: this.#names,
        reason: 'dropped',
        kept: found.visits,
        clicks: counted,
      })
    } catch (error) {
      if (!(error instanceof ScanTooLong)) throw error
      throw refusal({
        code: 'no_single_clicks',
        names: this.#names,
        reason: 'slow',
        max: SCAN_MS_MAX / 1_000,
      })
    }
  }
}

type NoSingleClicks = Extract<Fault, { readonly code: 'no_single_clicks' }>

function refusal(fault: NoSingleClicks): Failure {
  return Failure.invalid({ from: [fault] })
}

export type DayQuery = {
  readonly scope: ClickScope
  readonly quarters: Quarters
  readonly filter: ClickFilter
  readonly groupBy: ClickDimension | undefined
  /** Set when the report selects or counts by links or their values, with what by. */
  readonly byLinks:
    | { readonly names: readonly string[]; readonly selection: ClickSelection }
    | undefined
  /** Ends the reading when it aborts. */
  readonly signal: AbortSignal | undefined
}

/**
 * Chooses where a report reads its days from: the stored sums if at most one dimension is involved, otherwise
 * the raw clicks, as long as all of them are kept and there are not too many.
 *
 * @throws {Failure} `validation_failed` if neither source suffices
 */
export async function chooseDaySource(ctx: RawDaysContext, query: DayQuery): Promise<DaySource> {
  const { scope, filter, groupBy, byLinks, signal } = query
  const dimensions = new Set(filter.keys())
  if (groupBy !== undefined) dimensions.add(groupBy)
  if (byLinks !== undefined) {
    return readRawDays(ctx, query, new Set([...byLinks.names, ...dimensions]), byLinks.selection)
  }
  if (dimensions.size <= 1) {
    return rollupDays(ctx.store.read.reports, scope, filter, [...dimensions][0], signal)
  }
  return readRawDays(ctx, query, dimensions, selectByDimensions(filter, groupBy))
}

/** @throws {Failure} `validation_failed` if raw clicks are missing, too many, or take too long to read */
async function readRawDays(
  ctx: RawDaysContext,
  query: DayQuery,
  dimensions: ReadonlySet<string>,
  selection: ClickSelection,
): Promise<DaySource> {
  const raw = new RawDays(ctx, query, dimensions)
  await raw.count()
  const { source } = await raw.read((fromMicros, toMicros, limits) => {
    const clicks = ctx.store.read.reports.rawClicks(query.scope, fromMicros, toMicros, limits)
    return sumUpDays(clicks, selection)
  })
  return source
}

/** The counts of consecutive intervals. */
export class Series {
  readonly #cuts: readonly number[]
  readonly #persons: Float64Array
  readonly #others: Float64Array
  readonly #visitors: Float64Array
  /** The interval in which the day that was added last begins. */
  #first = 0

  /** @param cuts the quarter hours at which the intervals begin, and the one at which the last ends */
  constructor(cuts: readonly number[]) {
    this.#cuts = cuts
    this.#persons = new Float64Array(cuts.length - 1)
    this.#others = new Float64Array(cuts.length - 1)
    this.#visitors = new Float64Array(cuts.length - 1)
  }

  /** Returns the counts of each interval and the quarter hour at which it begins. */
  points(): (Counts & { start: number })[] {
    return Array.from(this.#persons, (_, nth) => ({
      start: cutAt(this.#cuts, nth),
      ...this.counts(nth),
    }))
  }

  counts(interval: number): Counts {
    return { persons: this.#persons[interval] ?? 0, others: this.#others[interval] ?? 0 }
  }

  /** Null if it cannot be determined. */
  visitors(interval: number): number | null {
    const visitors = this.#visitors[interval] ?? 0
    return Number.isNaN(visitors) ? null : visitors
  }

  /**
   * Adds a day's tally to its intervals. Days must be added in ascending order. A day that an interval
   * boundary divides needs its slots.
   */
  add(day: number, tally: Tally): void {
    this.#spread(day, tally)
  }

  /**
   * Like `add`, but also counts the visitors of the tally. Quarter hours have no visitor counts. So the
   * visitors of an interval with only a part of the day are known only if that part has none of the
   * tally's clicks, one click, or all clicks of the day. So are those of a day with unknown visitors if it has no
   * click, or one.
   */
  addWithVisitors(day: DayOfClicks, tally: Tally): void {
    for (const { interval, persons } of this.#spread(day.day, tally)) {
      const visitors = visitorsAmong(persons, day)
      this.#visitors[interval] = (this.#visitors[interval] ?? 0) + (visitors ?? Number.NaN)
    }
  }

  /** Adds the tally, and returns the clicks of persons added to each affected interval. */
  #spread(day: number, tally: Tally): { interval: number; persons: number }[] {
    const cuts = this.#cuts
    const begin = day * QUARTERS_PER_DAY
    const end = begin + QUARTERS_PER_DAY
    const last = this.#persons.length - 1
    while (this.#first < last && cutAt(cuts, this.#first + 1) <= begin) this.#first += 1
    if (cutAt(cuts, this.#first) <= begin && end <= cutAt(cuts, this.#first + 1)) {
      this.#bump(this.#first, tally)
      return [{ interval: this.#first, persons: tally.persons }]
    }
    const touched: { interval: number; persons: number }[] = []
    let interval = this.#first
    for (const slot of tally.slots) {
      const quarter = begin + slot.slot
      if (quarter < cutAt(cuts, interval)) continue
      while (interval < last && cutAt(cuts, interval + 1) <= quarter) interval += 1
      if (cutAt(cuts, interval + 1) <= quarter) break
      this.#bump(interval, slot)
      const before = touched.at(-1)
      if (before?.interval === interval) before.persons += slot.persons
      else touched.push({ interval, persons: slot.persons })
    }
    return touched
  }

  #bump(interval: number, { persons, others }: Counts): void {
    this.#persons[interval] = (this.#persons[interval] ?? 0) + persons
    this.#others[interval] = (this.#others[interval] ?? 0) + others
  }
}

function cutAt(cuts: readonly number[], nth: number): number {
  return cuts[nth] ?? Number.POSITIVE_INFINITY
}

/** Returns how many visitors made `persons` of a day's clicks; undefined if that cannot be determined. */
function visitorsAmong(persons: number, day: DayOfClicks): number | undefined {
  if (persons <= 1) return persons
  if (day.visitors === null || persons !== day.total.persons) return undefined
  return Math.min(day.visitors, persons)
}
