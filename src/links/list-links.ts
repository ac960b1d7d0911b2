import type {
  IncludingLink,
  LinkResource,
  ListLinksQuery,
  linkFilters,
} from '@terse/contract/links'
import type { FastifyRequest } from 'fastify'
import { actorOf } from '../identity/index.ts'
import { Failure, FaultList } from '../platform/failure.ts'
import {
  type Envelope,
  envelope,
  offsetOf,
  pageRequestOf,
} from '../platform/http/api/pagination.ts'
import { type WalkContext, walk } from '../platform/http/api/walk.ts'
import { parseInstant } from '../platform/time/clock.ts'
import { type Link, presentIncluding } from './link.ts'
import type { ActorQuery } from './link-lists.ts'
import type { LinkFilter, LinkSortField } from './link-query.ts'
import type { Links } from './links.ts'

export type LinkListDependencies = WalkContext & {
  readonly links: Links
  /** The instant before which all clicks are counted; null while counting keeps up. */
  readonly countedUntil: () => Promise<string | null>
}

type LinkPage = Envelope<Partial<IncludingLink>> & {
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
  const { meta, data, links } = await readLinks(request, query, deps)
  const { fields } = query
  const chosen = fields === undefined ? data : data.map((link) => pick(link, fields))
  return {
    data: chosen,
    links,
    meta: { ...meta, ...(counted_until !== null && { counted_until }) },
  }
}

const INCLUDED = [
  'options',
  'rule_count',
  'split_count',
  'rules',
] as const satisfies (keyof IncludingLink)[]

function pick(
  link: IncludingLink,
  fields: readonly (keyof LinkResource)[],
): Partial<IncludingLink> {
  const included = INCLUDED.filter((field) => link[field] !== undefined)
  return Object.fromEntries([...fields, ...included].map((field) => [field, link[field]]))
}

async function readLinks(
  request: FastifyRequest,
  query: ListLinksQuery,
  deps: LinkListDependencies,
): Promise<Envelope<IncludingLink>> {
  const sort = query.sort ?? '-created_at'
  const field = sort.replace('-', '') as LinkSortField
  const descending = sort.startsWith('-')
  const filter = filterOf(query)
  const { signal } = request
  const actor = actorOf(request)
  const present = (link: Link) => presentIncluding(link, query.include)

  if (query.cursor === undefined) {
    const pageRequest = pageRequestOf(query)
    const { items, total } = await deps.links.list(actor, {
      ...filter,
      signal,
      offset: offsetOf(pageRequest),
      limit: pageRequest.perPage,
      sort: { field, descending },
    })
    return envelope(request, deps.baseUrl, pageRequest, { items: items.map(present), total })
  }

  if (field !== 'created_at') {
    throw Failure.invalid({
      sort: [
        {
          code: 'incompatible',
          reason: 'one_of',
          allowed: ['-created_at', 'created_at'],
          other: 'cursor',
        },
      ],
    })
  }
  return walk<Link, number, IncludingLink>(request, deps, query, {
    owner: actor.workspaceId,
    filters: { ...filter, descending },
    present: (items) => items.map(present),
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

const ARCHIVED = { true: true, false: false, any: undefined }

/**
 * Returns the conditions that a query has, under the names of the store.
 *
 * @throws {Failure} `validation_failed` for an instant
 */
export function filterOf(
  query: Pick<ListLinksQuery, keyof typeof linkFilters>,
): ActorQuery<LinkFilter> {
  const { search, domain, key, external_id, created_after, created_before, tag } = query
  const namesOne = key !== undefined || external_id !== undefined
  const faults = new FaultList()
  const instant = (name: string, text: string | undefined) =>
    text === undefined ? undefined : faults.take(name, parseInstant(text))
  const createdFrom = instant('created_after', created_after)
  const createdTo = instant('created_before', created_before)
  faults.throwIfAny()
  return {
    search,
    hosts: domain,
    key,
    externalId: external_id,
    createdFrom,
    createdTo,
    tags: tag,
    url: query.url,
    states: query.state,
    does: query.does,
    managedBy: query.managed_by,
    archived:
      query.archived === undefined ? (namesOne ? undefined : false) : ARCHIVED[query.archived],
  }
}
