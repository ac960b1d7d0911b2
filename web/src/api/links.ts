import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { LinkPageMeta, LinkResource } from '@terse/contract/links'
import type { LinkFilter } from './link-filter.ts'
import { linkRead, linksRead } from './reads.ts'
import { request, requestVersioned } from './request.ts'

export type { LinkResource }

export type LinkPage = { readonly data: readonly LinkResource[]; readonly meta: LinkPageMeta }

/** What a create or a change sends: fields that are left out keep their value, null clears them. */
export type LinkFields = {
  readonly [Name in keyof LinkResource]?: LinkResource[Name] | null
}

const PALETTE_LINKS_MAX = 6
/** How often numbers are loaded again while counting is behind. */
export const BEHIND_REFRESH_MS = 10_000

/** Every key of a query about links begins so: a change invalidates them all. */
export const LINKS_KEY = ['links'] as const

export function linksQuery(filter: LinkFilter, page: number, perPage: number) {
  const { path, query } = linksRead(filter, page, perPage)
  return queryOptions({
    queryKey: [...LINKS_KEY, 'page', filter, page, perPage],
    queryFn: ({ signal }) => request<LinkPage>('GET', path, { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: 5_000,
    refetchInterval: ({ state }) => (state.data?.meta.counted_until ? BEHIND_REFRESH_MS : false),
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
    queryFn: ({ signal }) => request<LinkResource>('GET', linkRead(id).path, { signal }),
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
