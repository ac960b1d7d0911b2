import type { Click, ClickDimension } from '../click.ts'
import type { ValueTotals } from '../tally/values.ts'

/** Selects the clicks of a link, of a domain or of a workspace. */
export type ClickScope =
  | { readonly kind: 'link'; readonly workspaceId: string; readonly linkSeq: number }
  | { readonly kind: 'domain'; readonly workspaceId: string; readonly keyspaceId: number }
  | { readonly kind: 'workspace'; readonly workspaceId: string }

export type Counts = {
  /** Clicks of people: those without flags. */
  readonly persons: number
  readonly others: number
}

export function sumCounts(counts: Iterable<Counts>): Counts {
  let [persons, others] = [0, 0]
  for (const each of counts) {
    persons += each.persons
    others += each.others
  }
  return { persons, others }
}

/** Counts of a quarter hour of a UTC day, 0 to 95. Quarters, because some time zones are offset by :30 or :45. */
export type SlotCounts = { readonly slot: number } & Counts

/** The counts of a day and of its quarter hours with clicks, ascending. */
export type Tally = Counts & { readonly slots: readonly SlotCounts[] }

export type DayOfClicks = {
  /** Days since 1970-01-01, UTC. */
  readonly day: number
  readonly total: Tally
  /** The number of people on that day: exact for few, an estimate for many; null if some are unknown. */
  readonly visitors: number | null
  /** The counts by value of the requested dimension; empty if none was requested. */
  readonly values: ReadonlyMap<string, Tally>
}

/** A click with its link's id, key and host; null if the link has been deleted since. */
export type RawClick = Click & {
  readonly link_id: string | null
  readonly key: string | null
  /** The current host of the link's domain. */
  readonly host: string | null
}

export type DayOptions = {
  readonly dimension?: ClickDimension
  readonly values?: ReadonlySet<string> | undefined
  readonly slots: boolean
  /** Gets the values of days that are read without slots, where the store has their sums; such days have no `values`. */
  readonly totals?: ValueTotals | undefined
}
