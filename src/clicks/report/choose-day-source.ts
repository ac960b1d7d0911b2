import { SCAN_MS_MAX, ScanTooLong } from '../../platform/database/scan-too-long.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ClickDimension } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { ClickFilter } from './click-filter.ts'
import { type ClickSelection, selectByDimensions } from './click-selection.ts'
import type { ClickScope } from './day-of-clicks.ts'
import { type DaySource, rollupDays, sumUpDays } from './day-source.ts'
import { QUARTER_MICROS, QUARTERS_PER_DAY, type Quarters } from './intervals.ts'
import { Series } from './series.ts'

/** The maximum number of raw clicks that one report may read. */
const CLICKS_MAX = 1_000_000

const DAY_MICROS = QUARTERS_PER_DAY * QUARTER_MICROS

const NO_FILTER: ClickFilter = new Map()

type Context = {
  readonly store: Store<{ readonly reports: ClickReports }>
  readonly clock: Clock
  /** How long raw clicks are kept; 0 keeps them forever. */
  readonly retentionDays: number
}

export type DayQuery = {
  readonly scope: ClickScope
  readonly quarters: Quarters
  readonly filter: ClickFilter
  readonly groupBy: ClickDimension | undefined
  /** Set when the report selects or counts by links or their tags, with what by. */
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
export async function chooseDaySource(ctx: Context, query: DayQuery): Promise<DaySource> {
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
  { store, clock, retentionDays }: Context,
  { scope, quarters: { from, to }, signal }: DayQuery,
  dimensions: ReadonlySet<string>,
  selection: ClickSelection,
): Promise<DaySource> {
  const { reports } = store.read
  const today = Math.floor(clock.nowMicros() / DAY_MICROS)
  if (retentionDays > 0 && from < (today - retentionDays) * QUARTERS_PER_DAY) {
    throw cannotCombine(
      dimensions,
      `are kept for ${retentionDays} days (request a later from, or only one of these)`,
    )
  }
  let count = 0
  const counted = new Series([from, to])
  const countedDays = rollupDays(reports, scope, NO_FILTER, undefined, signal)([from, to])
  for await (const { day, total } of countedDays) {
    count += total.persons + total.others
    counted.add(day, total)
  }
  if (count > CLICKS_MAX) {
    throw cannotCombine(
      dimensions,
      `are limited to ${CLICKS_MAX}, and the requested days have ${count} (request fewer days, or only one of these)`,
    )
  }
  const { source, visits } = await withinTime(dimensions, () => {
    const [begin, end] = [from * QUARTER_MICROS, to * QUARTER_MICROS]
    const clicks = reports.rawClicks(scope, begin, end, { msMax: SCAN_MS_MAX, signal })
    return sumUpDays(clicks, selection)
  })
  const { persons, others } = counted.counts(0)
  if (visits < persons + others) {
    throw cannotCombine(
      dimensions,
      `of these days were not all kept: ${visits} of ${persons + others} (request other days, or only one of these)`,
    )
  }
  return source
}

/** @throws {Failure} `validation_failed` when reading takes too long */
async function withinTime<T>(dimensions: ReadonlySet<string>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ScanTooLong)) throw error
    throw cannotCombine(
      dimensions,
      `of these days take longer than ${SCAN_MS_MAX / 1_000} s to read (request fewer days, or only one of these)`,
    )
  }
}

function cannotCombine(dimensions: ReadonlySet<string>, why: string): Failure {
  const names = [...dimensions].join(' and ')
  const text =
    dimensions.size > 1
      ? `cannot be had for ${names} together: single clicks ${why}`
      : `cannot be had for ${names}: single clicks ${why.replace(', or for one of these alone', '')}`
  return Failure.invalid({ from: [text] })
}
