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
