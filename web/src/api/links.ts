import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { KeyAvailabilityResource } from '@terse/contract/link-keys'
import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { LinkPageMeta, LinkResource } from '@terse/contract/links'
import { visitAddress as addressAt, type ServiceAddress } from '@terse/contract/visit-address'
import { noAnswer } from './api-error.ts'
import { filterQuery, type LinkFilter } from './link-filter.ts'
import { linkRead, linksRead } from './reads.ts'
import { ifMatch, request, requestRaw, requestVersioned, WHILE_EDITED } from './request.ts'

export type { LinkResource }

/** A link with its options, as pages about links read it. */
export type DetailedLink = LinkResource & {
  readonly options: LinkOptionsResource
  readonly rule_count: number
  readonly split_count: number
}

type LinkPage<L = LinkResource> = { readonly data: readonly L[]; readonly meta: LinkPageMeta }

/** What a create or a change sends: fields that are left out keep their value, null clears them. */
export type LinkFields = {
  readonly [Name in keyof LinkResource]?: LinkResource[Name] | null
} & { readonly [Name in keyof LinkOptionsResource]?: LinkOptionsResource[Name] | null }

const PALETTE_LINKS_MAX = 6
/** How often numbers are loaded again while counting is behind. */
export const BEHIND_REFRESH_MS = 10_000

/** Every key of a query about links begins so: a change invalidates them all. */
export const LINKS_KEY = ['links'] as const

/** Every key of a page of links begins so. */
export const LINK_LISTS_KEY = [...LINKS_KEY, 'page'] as const
export type LinkList = LinkPage<DetailedLink>

export function linksQuery(filter: LinkFilter, page: number, perPage: number) {
  const { path, query } = linksRead(filter, page, perPage)
  return queryOptions({
    queryKey: [...LINK_LISTS_KEY, filter, page, perPage],
    queryFn: ({ signal }) => request<LinkPage<DetailedLink>>('GET', path, { query, signal }),
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
  const { path, query } = linkRead(id)
  return queryOptions({
    queryKey: [...LINKS_KEY, 'one', id],
    queryFn: ({ signal }) => request<DetailedLink>('GET', path, { query, signal }),
    staleTime: 5_000,
  })
}

/** A link that is about to be edited: as it is now, and unchanged until it is asked for again. */
export function editedLinkQuery(id: string) {
  const { path, query } = linkRead(id)
  return queryOptions({
    queryKey: ['edited-link', id],
    queryFn: ({ signal }) => requestVersioned<DetailedLink>(path, { query, signal }),
    ...WHILE_EDITED,
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
  return request('PATCH', `/links/${id}`, { body: fields, headers: ifMatch(version) })
}

/** Is sent even while the page is being left. */
export function deleteLink(id: string): Promise<unknown> {
  return request('DELETE', `/links/${id}`, { keepalive: true })
}

/** Whether a key is free on a domain, and a free one. */
export function keyAvailabilityQuery(domain: string, key: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'key-availability', domain, key],
    queryFn: ({ signal }) =>
      request<KeyAvailabilityResource>('GET', '/links/key-availability', {
        query: { domain, key: key === '' ? undefined : key },
        signal,
      }),
    staleTime: 5_000,
  })
}

/** How many links have exactly this destination. */
export function sameDestinationQuery(url: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'same-destination', url],
    queryFn: async ({ signal }) => {
      const page = await request<LinkPage>('GET', '/links', { query: { url, per_page: 1 }, signal })
      return page.meta.total
    },
    staleTime: 30_000,
  })
}

/** The links that match, the newest first, as CSV with every field. */
export function exportLinks(filter: LinkFilter): Promise<Blob> {
  return readExport(filter, undefined, (answer) => answer.blob())
}

/** Returns the ids of the links that match, the newest first; those that are made meanwhile may be missing. */
export async function findLinkIds(filter: LinkFilter): Promise<readonly string[]> {
  const text = await readExport(filter, 'id', (answer) => answer.text())
  const [, ...lines] = text.trimEnd().split('\r\n')
  return lines.map((line) => line.replaceAll('"', ''))
}

async function readExport<T>(
  filter: LinkFilter,
  fields: string | undefined,
  take: (answer: Response) => Promise<T>,
): Promise<T> {
  const query = { ...filterQuery(filter), sort: undefined, fields }
  const answer = await requestRaw('/links/export', { query })
  try {
    return await take(answer)
  } catch {
    // The connection was cut: what has arrived is not the whole list.
    throw noAnswer()
  }
}

/** Addresses of people, which a phone or a mail program opens. */
const CONTACT = new Set(['mailto:', 'tel:', 'sms:'])

/** A typed or pasted destination; `example.com/x` gets `https://`. Undefined where it is neither a web
 * address nor one of a person. */
export function destinationOf(typed: string): string | undefined {
  const text = typed.trim()
  if (text === '' || /\s/.test(text)) return undefined
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text) && !/^[\w.-]+:\d/.test(text)
  const url = hasScheme ? text : `https://${text}`
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname } = new URL(url)
  if (CONTACT.has(protocol)) return text
  if (protocol !== 'http:' && protocol !== 'https:') return undefined
  return hasScheme || hostname.includes('.') ? url : undefined
}

/** The address at which a link opens; the dashboard is open at that of the service. */
export function visitAddress(
  link: Pick<LinkResource, 'domain' | 'link'>,
  service: ServiceAddress = location,
): string {
  return addressAt(link, service)
}
