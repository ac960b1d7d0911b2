import type { ClickDimension } from '../click.ts'
import type { ClickFilter } from './click-filter.ts'
import { type ClickSelection, selectByDimensions } from './click-selection.ts'
import type { ClickScope } from './day-of-clicks.ts'
import { type DaySource, rollupDays, sumUpDays } from './day-source.ts'
import type { Quarters } from './intervals.ts'
import { RawDays, type RawDaysContext } from './raw-days.ts'

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
