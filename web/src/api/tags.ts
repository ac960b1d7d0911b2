import { queryOptions } from '@tanstack/react-query'
import type { TagResource } from '@terse/contract/tags'
import { LINKS_KEY } from './links.ts'
import { request } from './request.ts'

const TAGS_MAX = 100

type TagPage = { readonly data: readonly TagResource[] }

/** The tags that most links have, for choices. A change of a link can change them. */
export const frequentTagsQuery = queryOptions({
  queryKey: [...LINKS_KEY, 'tags', 'frequent'],
  queryFn: async ({ signal }) => {
    const query = { sort: '-links', per_page: TAGS_MAX }
    const page = await request<TagPage>('GET', '/tags', { query, signal })
    return page.data.map(({ name }) => name)
  },
  staleTime: 30_000,
})
