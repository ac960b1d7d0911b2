import type { LinkDoes } from '@terse/contract/link-fields'
import { dayOf, positiveOf, type SearchValues, textOf, textsOf, wordOf } from '../search-text.ts'
import { browserTimeZone, instantIn } from '../text/time-zone.ts'

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

/** The words of the contract, which is no code of the script that requests the first list. */
export const LINK_DOES = [
  ...(['rules', 'splits', 'rule_set', 'limit', 'starts', 'expires'] as const),
  ...(['path', 'query', 'preview', 'targets', 'password', 'notes'] as const),
] satisfies readonly LinkDoes[]

/** What a list has of archived links: them alone, or them too; none of them when left out. */
export const ARCHIVED_FILTERS = ['true', 'any'] as const
export type ArchivedFilter = (typeof ARCHIVED_FILTERS)[number]

/** Which links, in which order. */
export type LinkFilter = {
  readonly search?: string | undefined
  /** On any of these hosts. */
  readonly domain?: readonly string[] | undefined
  /** The first and the last day of creation, as `YYYY-MM-DD` in the time zone of the browser. */
  readonly created_from?: string | undefined
  readonly created_to?: string | undefined
  readonly tag?: readonly string[] | undefined
  readonly state?: LinkState | undefined
  /** All of this. */
  readonly does?: readonly LinkDoes[] | undefined
  readonly archived?: ArchivedFilter | undefined
  /** Managed by this set of links as code. */
  readonly managed_by?: string | undefined
  /** Exactly this destination. */
  readonly url?: string | undefined
  readonly sort?: LinkSort | undefined
}

/** All links, in whichever order. */
export const NO_FILTER = {
  search: undefined,
  domain: undefined,
  created_from: undefined,
  created_to: undefined,
  tag: undefined,
  state: undefined,
  does: undefined,
  archived: undefined,
  managed_by: undefined,
  url: undefined,
} satisfies LinkFilter

export function isFiltered(filter: LinkFilter): boolean {
  const { sort: _, ...conditions } = filter
  return Object.values(conditions).some((condition) => condition !== undefined)
}

/** The parameters of the API. */
export function filterQuery({ created_from: from, created_to: to, ...filter }: LinkFilter) {
  const zone = browserTimeZone()
  return {
    ...filter,
    does: filter.does?.join(','),
    created_after: from && instantIn(zone, from).toISOString(),
    created_before: to && instantIn(zone, addDays(to, 1)).toISOString(),
  }
}

/** A day that many days after another, both as `YYYY-MM-DD`. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00Z`)
  date.setUTCDate(date.getUTCDate() + days)
  return date.toISOString().slice(0, 10)
}

/** On a page of the list. */
export const LINKS_PER_PAGE = 50

/** What the list shows, as the address has it. */
type LinksSearch = LinkFilter & { readonly page?: number | undefined }

/** The words among them, or undefined for none. */
function chosenOf(values: unknown): LinkFilter['does'] {
  const chosen = LINK_DOES.filter((one) => textsOf(values)?.includes(one))
  return chosen.length === 0 ? undefined : chosen
}

export function parseLinksSearch(values: SearchValues): LinksSearch {
  const { search, domain, created_from, created_to, tag, state, does } = values
  const { archived, managed_by, url, sort, page } = values
  return {
    search: textOf(search),
    domain: textsOf(domain),
    created_from: dayOf(created_from),
    created_to: dayOf(created_to),
    tag: textsOf(tag),
    state: wordOf(LINK_STATES, state),
    does: chosenOf(does),
    archived: wordOf(ARCHIVED_FILTERS, archived),
    managed_by: textOf(managed_by),
    url: textOf(url),
    sort: wordOf(LINK_SORTS, sort),
    page: positiveOf(page),
  }
}
