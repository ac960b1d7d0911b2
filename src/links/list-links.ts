import type { LinkResource, ListLinksQuery } from '@terse/contract/links'
import type { FastifyRequest } from 'fastify'
import { actorOf } from '../identity/index.ts'
import { Failure } from '../platform/failure.ts'
import {
  type Envelope,
  envelope,
  offsetOf,
  pageRequestOf,
} from '../platform/http/api/pagination.ts'
import { type WalkContext, walk } from '../platform/http/api/walk.ts'
import type { Link } from './link.ts'
import type { ActorQuery } from './link-lists.ts'
import type { LinkFilter, LinkSortField } from './link-query.ts'
import type { Links } from './links.ts'
import { presentLink } from './present.ts'

export type LinkListDependencies = WalkContext & {
  readonly links: Links
  /** The instant before which all clicks are counted; null while counting keeps up. */
  readonly countedUntil: () => Promise<string | null>
}

type LinkPage = Envelope<LinkResource> & {
  readonly meta: { readonly counted_until?: string }
}

/** Returns a page of the workspace's links: by number, or from the position of a cursor. */
export async function listLinks(
  request: FastifyRequest,
  query: ListLinksQuery,
  deps: LinkListDependencies,
): Promise<LinkPage> {
  // Before the links: what was counted in between is newer than this.
  const counted_until = await deps.countedUntil()
  const { meta, ...page } = await readLinks(request, query, deps)
  return { ...page, meta: { ...meta, ...(counted_until !== null && { counted_until }) } }
}

async function readLinks(
  request: FastifyRequest,
  query: ListLinksQuery,
  deps: LinkListDependencies,
): Promise<Envelope<LinkResource>> {
  const sort = query.sort ?? '-created_at'
  const field = sort.replace('-', '') as LinkSortField
  const descending = sort.startsWith('-')
  const filter = filterOf(query)
  const { signal } = request
  const actor = actorOf(request)

  if (query.cursor === undefined) {
    const pageRequest = pageRequestOf(query)
    const { items, total } = await deps.links.list(actor, {
      ...filter,
      signal,
      offset: offsetOf(pageRequest),
      limit: pageRequest.perPage,
      sort: { field, descending },
    })
    return envelope(request, deps.baseUrl, pageRequest, { items: items.map(presentLink), total })
  }

  if (field !== 'created_at') {
    throw Failure.invalid({ sort: ['must be -created_at or created_at with a cursor'] })
  }
  return walk<Link, number, LinkResource>(request, deps, query, {
    workspaceId: actor.workspaceId,
    filters: { ...filter, descending },
    present: presentLink,
    list: {
      count: () => deps.links.count(actor, { ...filter, signal }),
      read: ({ beyond, isReversed, limit }) => {
        const direction = descending !== isReversed
        return deps.links.run(actor, { ...filter, signal, beyond, limit, descending: direction })
      },
      markOf: ({ seq }) => seq,
    },
  })
}

/** Returns the conditions that a query has, under the names of the store. */
export function filterOf(
  query: Pick<ListLinksQuery, 'search' | 'domain' | 'tag' | 'url' | 'state'>,
): ActorQuery<LinkFilter> {
  const { search, domain, tag, url, state } = query
  return { search, host: domain, tags: tag, url, states: state }
}
