export const LINK_SORTS = [
  '-created_at',
  'created_at',
  '-updated_at',
  'updated_at',
  '-clicks',
  'clicks',
  '-last_click',
  'last_click',
  'key',
  '-key',
] as const
export type LinkSort = (typeof LINK_SORTS)[number]

export const LINK_STATES = ['active', 'expired', 'protected'] as const
export type LinkState = (typeof LINK_STATES)[number]

/** Which links, in which order. */
export type LinkFilter = {
  readonly search?: string | undefined
  readonly domain?: string | undefined
  readonly tag?: readonly string[] | undefined
  readonly state?: LinkState | undefined
  /** Exactly this destination. */
  readonly url?: string | undefined
  readonly sort?: LinkSort | undefined
}

/** All links, in whichever order. */
export const NO_FILTER = {
  search: undefined,
  domain: undefined,
  tag: undefined,
  state: undefined,
  url: undefined,
} satisfies LinkFilter

export function isFiltered(filter: LinkFilter): boolean {
  const { sort: _, ...conditions } = filter
  return Object.values(conditions).some((condition) => condition !== undefined)
}

/** On a page of the list. */
export const LINKS_PER_PAGE = 50
