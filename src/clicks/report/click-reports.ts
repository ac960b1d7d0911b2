import type { Click, ClickDimension } from '../click.ts'

/** Whose clicks are asked for. */
export type ClickScope =
  | { readonly kind: 'link'; readonly workspaceId: string; readonly linkSeq: number }
  | { readonly kind: 'domain'; readonly workspaceId: string; readonly keyspaceId: number }
  | { readonly kind: 'workspace'; readonly workspaceId: string }

export type Counts = {
  /** Clicks of people: those with no flag. */
  readonly persons: number
  readonly others: number
}

/** A quarter hour of a UTC day, 0 to 95: there are time zones at :30 and :45. */
export type SlotCounts = { readonly slot: number } & Counts

/** A day's sum, and the quarter hours in which there were clicks, ascending. */
export type Tally = Counts & { readonly slots: readonly SlotCounts[] }

export type DayOfClicks = {
  /** Days since 1970-01-01, UTC. */
  readonly day: number
  readonly total: Tally
  /** How many people there were that day; exact for few, an estimate for many. */
  readonly visitors: number
  /** Of the dimension that was asked for, by its values; empty when none was. */
  readonly values: ReadonlyMap<string, Tally>
}

/** A click with the names of its link; null where the link has been deleted since. */
export type RawClick = Click & {
  readonly link_id: string | null
  readonly key: string | null
  /** The host of the link's domain as it is named now. */
  readonly host: string | null
}

export type DayOptions = {
  readonly dimension?: ClickDimension
  readonly values?: ReadonlySet<string> | undefined
  readonly slots: boolean
}

/** What has been counted, for charts and exports. */
export type ClickReports = {
  /**
   * The days from `fromDay` to `toDay`, both included, in ascending order; days without clicks are
   * left out. `slots` are empty unless they are asked for. Of the dimension's values, those of
   * `values` alone are read, where that is given; which takes less time than to read them all.
   */
  readDays(
    scope: ClickScope,
    fromDay: number,
    toDay: number,
    options: DayOptions,
  ): Promise<readonly DayOfClicks[]>
  /**
   * The clicks from `fromMicros` (included) to `toMicros` (excluded) that are still kept, the oldest
   * day first, in batches that are small enough to hold; some are empty, so that one comes every few
   * milliseconds. Within a day they come in the order in which they were
   * taken in, which is nearly that of their instants.
   *
   * @param msMax for reading, without the time that it waits for its turns; unbounded when left out
   * @throws {ScanTooLong} past that
   */
  rawClicks(
    scope: ClickScope,
    fromMicros: number,
    toMicros: number,
    msMax?: number,
  ): AsyncIterable<readonly RawClick[]>
}
