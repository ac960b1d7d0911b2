import { queryOptions } from '@tanstack/react-query'
import type { KeyAvailabilityResource } from '@terse/contract/link-keys'
import { LINKS_KEY, type LinkPage } from './links.ts'
import { request } from './request.ts'

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
