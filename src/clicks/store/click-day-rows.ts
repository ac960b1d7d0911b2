/** The values of `click_days.scope`. */
export const SCOPES = { link: 0, domain: 1, workspace: 2 } as const

/** Identifies a subject (link, domain or workspace) and a UTC day. */
export type DayKey = {
  readonly day: number
  readonly scope: number
  /** The link's number, the domain's keyspace, or `workspaceNumber`, which spreads over shards. */
  readonly subject: number
  /** Empty for a link, whose number is unique by itself: most rows are of links, so this saves space. */
  readonly workspace_id: string
}

/** Chunks to append to a stored day (clicks/tally/day-format.ts). */
export type DayDelta = DayKey & { readonly data: Uint8Array }

/** A day that has grown enough to be folded. */
export type GrownDay = DayKey & { readonly parts: number }

/** A row of a day (fold-days.ts describes the parts). */
export type DayRow = DayKey & {
  readonly part: number
  readonly folded: number
  readonly parts: number
  readonly data: Uint8Array
}

/** What is added to a link's counters. */
export type LinkCount = {
  readonly link_seq: number
  readonly clicks: number
  readonly last_click: number
}

export type DayPart = DayKey & Pick<DayRow, 'part' | 'data'>

/** Bulk operations whose SQL differs between the engines. */
export type ClickRows = {
  /** `counts` must be in link order, so that concurrent writers cannot deadlock. */
  addToLinks(counts: readonly LinkCount[]): Promise<void>
  /** `deltas` must be in key order, each key once. Returns days to fold. SQLite returns some of them only at a later append. */
  appendToDays(deltas: readonly DayDelta[]): Promise<readonly GrownDay[]>
  /** Reads the recent parts of days, or all other parts. */
  readDays(keys: readonly DayKey[], which: 'recent' | 'others'): Promise<readonly DayPart[]>
  /** Inserts or replaces rows. */
  writeDays(rows: readonly DayRow[]): Promise<void>
}

/**
 * A day may be folded once the appended bytes exceed this and the size after the last fold. So each byte of a day
 * is rewritten only a few times.
 */
export const FOLD_BYTES_MIN = 2_048

/** Lists the days with counts, ascending, by one look-up each. */
export const COUNTED_DAYS = `
  with recursive days (day) as (
    select min(day) from click_days
    union all
    select (select min(day) from click_days where click_days.day > days.day) from days
      where day is not null
  ) select day from days where day is not null`

/** Compares by the order in which every writer locks rows. */
export function compareKeys(a: DayKey, b: DayKey): number {
  return (
    a.day - b.day ||
    a.scope - b.scope ||
    a.subject - b.subject ||
    (a.workspace_id < b.workspace_id ? -1 : Number(a.workspace_id > b.workspace_id))
  )
}
