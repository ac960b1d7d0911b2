/** `active` and `expired` follow from `expires_at`, `protected` from `password`. */
export type LinkState = 'active' | 'expired' | 'protected'

export type LinkSortField = 'created_at' | 'updated_at' | 'clicks' | 'last_click' | 'key'

/** The conditions of a list; a link must meet all of them. */
export type LinkFilter = {
  readonly workspaceId: string
  /** Text that key, destination or a tag contains, ignoring case. */
  readonly search?: string | undefined
  /** The link at this address also meets the condition of `search`. */
  readonly shortLink?: LinkAddress | undefined
  readonly host?: string | undefined
  /** The link must have all of these tags. */
  readonly tags?: readonly string[] | undefined
  /** The destination, in its stored form. */
  readonly url?: string | undefined
  /** The link must be in all of these states. */
  readonly states?: readonly LinkState[] | undefined
  /** The instant at which links are `active` or `expired`, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly now?: string | undefined
  /** Ends a search when it aborts: its client has gone. */
  readonly signal?: AbortSignal | undefined
}

/** The address of a link; the letter case of the key is ignored. */
export type LinkAddress = { readonly host: string; readonly key: string }

export type LinkQuery = LinkFilter & {
  readonly offset: number
  readonly limit: number
  readonly sort: { readonly field: LinkSortField; readonly descending: boolean }
}

/** Consecutive links of a list in the order of creation. */
export type LinkRun = LinkFilter & {
  readonly limit: number
  readonly descending: boolean
  /**
   * The run starts after this link number, whether or not such a link exists; at the start of the list
   * when undefined.
   */
  readonly beyond: number | undefined
}

/** Whether the filter requires a scan of many rows; without conditions an index has the list. */
export function isFiltered({ search, shortLink, host, tags, url, states }: LinkFilter): boolean {
  return [search, shortLink, host, tags, url, states].some((condition) => condition !== undefined)
}

/** Like `isFiltered`; also true for a page that is not sorted by creation. */
export function needsScan(query: LinkQuery): boolean {
  return isFiltered(query) || query.sort.field !== 'created_at'
}
