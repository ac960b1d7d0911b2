import { queryOptions } from '@tanstack/react-query'
import type { EventPageResource } from '@terse/contract/events'
import { LINKS_KEY } from './links.ts'
import { request } from './request.ts'

type EventFilter = { readonly subject?: string }

/** The newest changes. A change of a link makes it load again, like the links themselves. */
export function eventsQuery(filter: EventFilter) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'events', filter],
    queryFn: async ({ signal }) =>
      (await request<EventPageResource>('GET', '/events', { query: { ...filter }, signal })).data,
    staleTime: 5_000,
  })
}
