import type { ClickDimension } from '../click.ts'
import type { SlotCounts } from '../report/day-of-clicks.ts'
import type { OwnedClick } from '../store/raw-click-source.ts'

/** Identifies a link, a domain or a workspace. */
export type Subject = {
  /** One of `SCOPES`. */
  readonly scope: number
  /** The link's number or the domain's keyspace; 0 for a workspace. */
  readonly subject: number
  /** Undefined for a link. */
  readonly workspaceId: string | undefined
}

/** A subject's day as a chunk of tallies (tally/day-format.ts). */
export type SubjectDay = Subject & { readonly data: Uint8Array }

/** What was counted of a subject on a day, or how two states of the day differ. */
export type Counted = {
  readonly slots: readonly SlotCounts[]
  readonly values: ReadonlyMap<ClickDimension, ReadonlyMap<string, readonly SlotCounts[]>>
  /** Null if some visitors are unknown. */
  readonly visitors: number | null
}

export type SubjectCounted = Subject & Counted

/** Reads all clicks that a database has, by UTC day. */
export type ClickHistory = {
  /** The days that have counted clicks, ascending. */
  days(): Promise<readonly number[]>
  /**
   * Reads what was counted on a day, each subject once, in pages.
   *
   * @param onBytes called with what was read, in the same order while nothing changes
   */
  subjects(day: number, onBytes: (bytes: Uint8Array) => void): AsyncIterable<readonly SubjectDay[]>
  /** Reads the single clicks of a day, in pages. */
  clicks(day: number): AsyncIterable<readonly OwnedClick[]>
}
