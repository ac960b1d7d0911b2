import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { LinkResource } from '@terse/contract/links'
import type { PageMeta } from '@terse/contract/pagination'
import { request, requestVersioned } from './request.ts'

export type { LinkResource }

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

export type LinkPage = { readonly data: readonly LinkResource[]; readonly meta: PageMeta }

/** What a create or a change sends: fields that are left out keep their value, null clears them. */
export type LinkFields = {
  readonly [Name in keyof LinkResource]?: LinkResource[Name] | null
}

/** On a page of the list. */
export const LINKS_PER_PAGE = 50
const PALETTE_LINKS_MAX = 6

/** Every key of a query about links begins so: a change invalidates them all. */
export const LINKS_KEY = ['links'] as const

export function linksQuery(filter: LinkFilter, page: number, perPage: number) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'page', filter, page, perPage],
    queryFn: ({ signal }) =>
      request<LinkPage>('GET', '/links', { query: { ...filter, page, per_page: perPage }, signal }),
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
}

/** The first links that match a text, for the palette. */
export function linkSearchQuery(search: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'search', search],
    queryFn: async ({ signal }) => {
      const query = { search: search === '' ? undefined : search, per_page: PALETTE_LINKS_MAX }
      return (await request<LinkPage>('GET', '/links', { query, signal })).data
    },
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
}

export function linkQuery(id: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'one', id],
    queryFn: ({ signal }) => request<LinkResource>('GET', `/links/${id}`, { signal }),
    staleTime: 5_000,
  })
}

/** A link that is about to be edited: as it is now, and unchanged until it is asked for again. */
export function editedLinkQuery(id: string) {
  return queryOptions({
    queryKey: ['edited-link', id],
    queryFn: ({ signal }) => requestVersioned<LinkResource>(`/links/${id}`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
  })
}

/** @param idempotencyKey makes a repeated request create one link */
export function createLink(fields: LinkFields, idempotencyKey: string): Promise<LinkResource> {
  const headers = { 'Idempotency-Key': idempotencyKey }
  return request('POST', '/links', { body: fields, headers })
}

/** @param version fails with 412 where the link has another one by now */
export function changeLink(
  id: string,
  fields: LinkFields,
  version: string | undefined,
): Promise<LinkResource> {
  const headers = version === undefined ? {} : { 'If-Match': version }
  return request('PATCH', `/links/${id}`, { body: fields, headers })
}

/** Is sent even while the page is being left. */
export function deleteLink(id: string): Promise<unknown> {
  return request('DELETE', `/links/${id}`, { keepalive: true })
}
