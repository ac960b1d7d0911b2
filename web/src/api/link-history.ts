import { infiniteQueryOptions } from '@tanstack/react-query'
import type { LinkChange, linkHistoryPage, RevertLinkBody } from '@terse/contract/link-history'
import type { z } from 'zod'
import { LINKS_KEY, type LinkResource } from './links.ts'
import { request } from './request.ts'

export type { LinkChange }

const CHANGES_PER_PAGE = 20

/** Who changed what of a link, the newest first, page by page. */
export function linkHistoryQuery(linkId: string) {
  return infiniteQueryOptions({
    queryKey: [...LINKS_KEY, 'history', linkId],
    queryFn: ({ signal, pageParam: cursor }) =>
      request<z.output<typeof linkHistoryPage>>('GET', `/links/${linkId}/history`, {
        query: { per_page: CHANGES_PER_PAGE, cursor },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    staleTime: 5_000,
  })
}

/** Undoes a change of a link, or all after it. Results of the link's examples may change. */
export function revertLink(linkId: string, body: RevertLinkBody): Promise<LinkResource> {
  return request('POST', `/links/${linkId}/revert`, { body, query: { accept_changes: true } })
}
