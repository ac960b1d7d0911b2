/** As `expires_at` and `password` of a link decide. */
export type LinkState = 'active' | 'expired' | 'protected'

export type LinkSortField = 'created_at' | 'updated_at' | 'clicks' | 'last_click' | 'key'

/** Which of a workspace's links a list holds: those that meet every condition. */
export type LinkFilter = {
  readonly workspaceId: string
  /** Text within key, destination or a tag, whatever its case. */
  readonly search?: string | undefined
  /** The link at this address meets the condition of `search`, too. */
  readonly shortLink?: LinkAddress | undefined
  readonly host?: string | undefined
  /** The link must carry each of these. */
  readonly tags?: readonly string[] | undefined
  /** The destination, in its stored form. */
  readonly url?: string | undefined
  /** The link must be in each of these. */
  readonly states?: readonly LinkState[] | undefined
  /** The instant at which links are `active` or `expired`, as `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
  readonly now?: string | undefined
}

/** Where a link is, whatever the letter case of its key. */
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
  /** The number behind which the run begins, whether or not a link has it; the list's beginning when undefined. */
  readonly beyond: number | undefined
}

/** Whether the links must be looked for among many rows, rather than in an index. */
export function isFiltered({ search, shortLink, host, tags, url, states }: LinkFilter): boolean {
  return [search, shortLink, host, tags, url, states].some((condition) => condition !== undefined)
}

/** As `isFiltered`; a page in another order than that of creation is looked for, too. */
export function needsScan(query: LinkQuery): boolean {
  return isFiltered(query) || query.sort.field !== 'created_at'
}
