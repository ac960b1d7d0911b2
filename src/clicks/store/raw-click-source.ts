import type { Scan } from '../../storage/scans.ts'
import { CLICK_DIMENSIONS } from '../click.ts'
import type { ClickScope, Counts } from '../report/day-of-clicks.ts'
import type { RawClickRow } from './link-names.ts'

/** Which raw clicks of a day are read. */
export type RawDayQuery = {
  readonly scope: ClickScope
  readonly day: number
  /** Included. */
  readonly fromMicros: number
  /** Excluded. */
  readonly toMicros: number
  readonly scan: Scan
}

/** The clicks of a link. */
export type LinkCounts = Counts & { readonly linkSeq: number }

/** How an engine reads the raw clicks of a day, in short turns. */
export type RawClickSource = {
  pages(query: RawDayQuery): AsyncIterable<readonly RawClickRow[]>
  /** Adds clicks up by link, in the database. A link may come several times. */
  linkCounts(query: RawDayQuery): AsyncIterable<readonly LinkCounts[]>
}

/** The columns to read of a raw click. */
export const RAW_CLICK_COLUMNS = [
  'at',
  'link_seq',
  'keyspace_id',
  'flags',
  'count',
  'visitor',
  ...CLICK_DIMENSIONS,
] as const

/** What is removed of the clicks: counters, charts and raw rows. */
export type ErasedClicks =
  | { readonly kind: 'links'; readonly linkSeqs: readonly number[] }
  /** All of a workspace whose links are deleted. */
  | { readonly kind: 'workspace'; readonly workspaceId: string }
