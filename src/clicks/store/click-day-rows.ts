/** What the numbers in `click_days.scope` mean. */
export const SCOPES = { link: 0, domain: 1, workspace: 2 } as const

/** Whose clicks of which UTC day. */
export type DayKey = {
  readonly day: number
  readonly scope: number
  /** The link's number, the domain's keyspace, or `workspaceSubject`. */
  readonly subject: number
  /** Empty for a link, whose number alone says whose it is, in a row of which there are most. */
  readonly workspace_id: string
}

/** Chunks to append to what is kept of a day (clicks/tally/day-codec.ts). */
export type DayDelta = DayKey & { readonly data: Uint8Array }

/** A day to which so much has been appended that it should be folded. */
export type GrownDay = DayKey & { readonly parts: number }

/** One of the rows of a day (click-day-folder.ts says what its parts are). */
export type DayRow = DayKey & {
  readonly part: number
  readonly folded: number
  readonly parts: number
  readonly data: Uint8Array
}

/** What a link's counters grow by. */
export type LinkCount = {
  readonly link_seq: number
  readonly clicks: number
  readonly last_click: number
}

export type DayPart = DayKey & Pick<DayRow, 'part' | 'data'>

/** What the engines write differently, because it is many rows at a time. */
export type ClickRows = {
  /** In the order of the links, so that writers queue. */
  addToLinks(counts: readonly LinkCount[]): Promise<void>
  /** In the order of the keys, and each key once. */
  appendToDays(deltas: readonly DayDelta[]): Promise<readonly GrownDay[]>
  /** The recent parts of days, or all the others. */
  readDays(keys: readonly DayKey[], which: 'recent' | 'others'): Promise<readonly DayPart[]>
  /** Writes rows whether they are there or not. */
  writeDays(rows: readonly DayRow[]): Promise<void>
}

/**
 * Bytes that are appended to a day before it is folded, unless more than that is there already: so a
 * day's bytes are read and written again in all no more than a few times.
 */
export const FOLD_BYTES_MIN = 2_048

/** In the order in which every writer locks them. */
export function compareKeys(a: DayKey, b: DayKey): number {
  return (
    a.day - b.day ||
    a.scope - b.scope ||
    a.subject - b.subject ||
    (a.workspace_id < b.workspace_id ? -1 : Number(a.workspace_id > b.workspace_id))
  )
}

/**
 * The subject of a workspace's own sums: a number of its own, by which they are spread over shards. The
 * workspace's identifier is part of the key besides, so two may have the same number.
 */
export function workspaceSubject(workspaceId: string): number {
  return Number.parseInt(workspaceId.slice(-8), 16)
}
