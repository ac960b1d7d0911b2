import { SCAN_MS_MAX, ScanTooLong } from '../../platform/database/scan-too-long.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ClickDimension } from '../click.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { ClickFilter } from './click-filter.ts'
import type { ClickScope } from './day-of-clicks.ts'
import { type DaySource, rollupDays, sumUpDays } from './day-source.ts'
import { QUARTER_MICROS, QUARTERS_PER_DAY, type Quarters } from './intervals.ts'
import { Series } from './series.ts'

/** Single clicks that one report may look at. */
const CLICKS_MAX = 1_000_000

const DAY_MICROS = QUARTERS_PER_DAY * QUARTER_MICROS

const NO_FILTER: ClickFilter = new Map()

export type DaySources = {
  /**
   * Where the days for a report come from: from sums where one dimension is enough, else from single
   * clicks, as far as they are kept and few enough.
   *
   * @throws {Failure} `validation_failed` where neither will do
   */
  choose(
    scope: ClickScope,
    quarters: Quarters,
    filter: ClickFilter,
    groupBy: ClickDimension | undefined,
  ): Promise<DaySource>
}

export function daySources(deps: {
  store: Store<{ readonly reports: ClickReports }>
  clock: Clock
  /** For which single clicks are kept; 0 for ever. */
  retentionDays: number
}): DaySources {
  const { clock, retentionDays } = deps
  const { reports } = deps.store.read

  return {
    async choose(scope, { from, to }, filter, groupBy) {
      const dimensions = new Set(filter.keys())
      if (groupBy !== undefined) dimensions.add(groupBy)
      if (dimensions.size <= 1) return rollupDays(reports, scope, filter, [...dimensions][0])

      const today = Math.floor(clock.nowMicros() / DAY_MICROS)
      if (retentionDays > 0 && from < (today - retentionDays) * QUARTERS_PER_DAY) {
        throw cannotCombine(
          dimensions,
          `are kept for ${retentionDays} days (ask for a later from, or for one of these alone)`,
        )
      }
      let count = 0
      const counted = new Series([from, to])
      for await (const { day, total } of rollupDays(
        reports,
        scope,
        NO_FILTER,
        undefined,
      )([from, to])) {
        count += total.persons + total.others
        counted.add(day, total)
      }
      if (count > CLICKS_MAX) {
        throw cannotCombine(
          dimensions,
          `may be at most ${CLICKS_MAX}, and the days asked for have ${count} (ask for fewer, or for one of these alone)`,
        )
      }
      const { source, visits } = await withinTime(dimensions, () => {
        const [begin, end] = [from * QUARTER_MICROS, to * QUARTER_MICROS]
        const clicks = reports.rawClicks(scope, begin, end, SCAN_MS_MAX)
        return sumUpDays(clicks, filter, groupBy)
      })
      const { persons, others } = counted.counts(0)
      if (visits < persons + others) {
        throw cannotCombine(
          dimensions,
          `of these days were not all kept: ${visits} of ${persons + others} (ask for other days, or for one of these alone)`,
        )
      }
      return source
    },
  }
}

/** @throws {Failure} `validation_failed` when reading takes too long */
async function withinTime<T>(
  dimensions: ReadonlySet<ClickDimension>,
  read: () => Promise<T>,
): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ScanTooLong)) throw error
    throw cannotCombine(
      dimensions,
      `of these days take longer than ${SCAN_MS_MAX / 1_000} s to look through (ask for fewer, or for one of these alone)`,
    )
  }
}

function cannotCombine(dimensions: ReadonlySet<ClickDimension>, why: string): Failure {
  const names = [...dimensions].join(' and ')
  return Failure.invalid({ from: [`cannot be had for ${names} together: single clicks ${why}`] })
}
