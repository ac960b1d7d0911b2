import type { Scan } from '../../platform/database/scans.ts'
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
