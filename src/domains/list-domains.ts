import type { IncludingDomain, ListDomainsQuery } from '@terse/contract/domains'
import type { FastifyRequest } from 'fastify'
import { actorOf } from '../identity/index.ts'
import {
  type Envelope,
  envelope,
  offsetOf,
  pageRequestOf,
} from '../platform/http/api/pagination.ts'
import { type WalkContext, walk } from '../platform/http/api/walk.ts'
import type { Domain } from './domain.ts'
import type { Domains } from './domains.ts'
import type { IncludedOfDomains } from './included.ts'
import type { DomainMark } from './store/domain-store.ts'

export type DomainListDependencies = WalkContext & {
  readonly domains: Domains
  readonly includedOfDomains: IncludedOfDomains
}

/** Returns a page of the workspace's domains: by number, or from the position of a cursor. */
export async function listDomains(
  request: FastifyRequest,
  query: ListDomainsQuery,
  deps: DomainListDependencies,
): Promise<Envelope<IncludingDomain>> {
  const { domains, includedOfDomains: included } = deps
  const actor = actorOf(request)
  const filter = { name: query.domain }
  const present = (items: readonly Domain[]) =>
    included.present(actor, items, { include: query.include ?? [], signal: request.signal })

  if (query.cursor === undefined) {
    const pageRequest = pageRequestOf(query)
    const { perPage } = pageRequest
    const { items, total } = await domains.list(actor, filter, offsetOf(pageRequest), perPage)
    return envelope(request, deps.baseUrl, pageRequest, { items: await present(items), total })
  }

  return walk<Domain, DomainMark, IncludingDomain>(request, deps, query, {
    owner: actor.workspaceId,
    filters: filter,
    present,
    list: {
      count: () => domains.count(actor, filter),
      read: ({ beyond, isReversed, limit }) =>
        domains.run(actor, { ...filter, beyond, limit, descending: !isReversed }),
      markOf: ({ created_at, id }) => ({ created_at, id }),
    },
  })
}
