import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { PageMeta } from '@terse/contract/pagination'
import type { TagResource } from '@terse/contract/tags'
import { browserTimeZone } from '../text/time-zone.ts'
import { type ClickGroups, GROUPS_MAX } from './clicks.ts'
import { LINKS_KEY } from './links.ts'
import { request, requestPatiently } from './request.ts'

export type Tag = TagResource

const FREQUENT_MAX = 100
const PER_PAGE = 50

export const TAG_SORTS = ['name', '-name', '-links', 'links'] as const
export type TagSort = (typeof TAG_SORTS)[number]

type TagPage = { readonly data: readonly Tag[]; readonly meta: PageMeta }

/** A change of a link can change the tags. */
const TAGS_KEY = [...LINKS_KEY, 'tags'] as const

/** The tags that most links have, for choices. */
export const frequentTagsQuery = queryOptions({
  queryKey: [...TAGS_KEY, 'frequent'],
  queryFn: async ({ signal }) => {
    const query = { sort: '-links', per_page: FREQUENT_MAX }
    const page = await request<TagPage>('GET', '/tags', { query, signal })
    return page.data.map(({ name }) => name)
  },
  staleTime: 30_000,
})

export function tagPageQuery(search: string | undefined, sort: TagSort, page: number) {
  return queryOptions({
    queryKey: [...TAGS_KEY, 'page', search, sort, page],
    queryFn: ({ signal }) =>
      request<TagPage>('GET', '/tags', {
        query: { search, sort, page, per_page: PER_PAGE },
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 5_000,
  })
}

/** The clicks of the last 30 days by tag: of those with most clicks, if there are very many tags. */
export function tagClicksQuery() {
  const query = { group_by: 'tag', limit: GROUPS_MAX, timezone: browserTimeZone() }
  return queryOptions({
    queryKey: [...TAGS_KEY, 'clicks', query.timezone],
    queryFn: ({ signal }) => requestPatiently<ClickGroups>('/clicks', { query, signal }),
    staleTime: 60_000,
  })
}

/** Whether some link has exactly this tag. */
export function tagUseQuery(name: string) {
  return queryOptions({
    queryKey: [...TAGS_KEY, 'use', name],
    async queryFn({ signal }) {
      const query = { tag: name, per_page: 1 }
      const { meta } = await request<TagPage>('GET', '/links', { query, signal })
      return meta.total > 0
    },
    staleTime: 5_000,
  })
}

/** Gives tags another name on all links; several become one. Returns how many links changed. */
export function renameTags(tags: readonly string[], name: string): Promise<number> {
  return untilDone('/tags/rename', { tags, name })
}

export function deleteTags(tags: readonly string[]): Promise<number> {
  return untilDone('/tags/delete', { tags })
}

/** Sends the same request until all links are changed; each takes some seconds at most. */
async function untilDone(path: string, body: object): Promise<number> {
  let changed = 0
  let isDone = false
  while (!isDone) {
    const answer: { done: boolean; changed: number } = await request('POST', path, { body })
    changed += answer.changed
    isDone = answer.done
  }
  return changed
}
