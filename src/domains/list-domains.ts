import type { DomainInclude, IncludingDomain, ListDomainsQuery } from '@terse/contract/domains'
import type { FastifyRequest } from 'fastify'
import { displayHost } from '../hosts/index.ts'
import { type Actor, actorOf, requirePermission } from '../identity/index.ts'
import {
  type Envelope,
  envelope,
  offsetOf,
  pageRequestOf,
} from '../platform/http/api/pagination.ts'
import { type WalkContext, walk } from '../platform/http/api/walk.ts'
import { formatInstant } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { pendingFrom } from './check-schedule.ts'
import type { CertificateLife, Domain } from './domain.ts'
import { presentSettings } from './domain-settings.ts'
import type { Domains } from './domains.ts'
import { presentDomain, presentHttps } from './present.ts'
import type { DomainSettingsStore } from './store/domain-settings-store.ts'
import type { DomainFacts, DomainMark, DomainStore } from './store/domain-store.ts'

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

const HAS_FACTS: ReadonlySet<DomainInclude> = new Set(['dns', 'https', 'default'])

type Request = {
  readonly include: readonly DomainInclude[]
  /** Ends the count of links when it aborts: the client has gone. */
  readonly signal: AbortSignal
}

/** Returns the links on each host; undefined when they cannot be counted now. */
type CountLinks = (
  actor: Actor,
  on: { readonly hosts: readonly string[]; readonly signal: AbortSignal },
) => Promise<ReadonlyMap<string, number> | undefined>

type Dependencies = {
  readonly store: Store<{
    readonly domains: DomainStore
    readonly domainSettings: Pick<DomainSettingsStore, 'list'>
    readonly certificates: {
      findLives(hosts: readonly string[]): Promise<ReadonlyMap<string, CertificateLife>>
    }
  }>
  readonly countLinks: CountLinks
}

/** What lists of domains show beside the fields of each. Asks no DNS: that may take seconds for each domain. */
export class IncludedOfDomains {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @throws {Failure} `missing_scope` for links that the actor may not see */
  async present(
    actor: Actor,
    domains: readonly Domain[],
    { include, signal }: Request,
  ): Promise<IncludingDomain[]> {
    const { store, countLinks } = this.#deps
    const wants = (name: DomainInclude) => include.includes(name)
    if (wants('links')) requirePermission(actor, 'links.view')
    if (include.length === 0 || domains.length === 0) return domains.map(presentDomain)

    const hosts = domains.map(({ host }) => host)
    // The certificate of a pending domain's host may belong to another workspace.
    const active = domains.flatMap(({ host, status }) => (status === 'active' ? host : []))
    const ids = domains.map(({ id }) => id)
    const [links, facts, lives, settings] = await Promise.all([
      wants('links') ? countLinks(actor, { hosts, signal }) : undefined,
      include.some((name) => HAS_FACTS.has(name)) ? store.read.domains.listFacts(ids) : [],
      wants('https') && active.length > 0 ? store.read.certificates.findLives(active) : undefined,
      wants('settings') ? store.read.domainSettings.list(ids) : undefined,
    ])
    const factsOf = new Map(facts.map((fact) => [fact.id, fact]))
    return domains.map((domain) => {
      const fact = factsOf.get(domain.id)
      return {
        ...presentDomain(domain),
        ...(wants('links') && { links: links?.get(domain.host) ?? null }),
        ...(wants('dns') && { dns: presentDns(domain, fact) }),
        ...(wants('https') && {
          https: presentHttps({
            certificate: lives?.get(domain.host) ?? null,
            hstsMaxAge: fact?.hsts_max_age ?? null,
          }),
        }),
        ...(wants('default') && { is_default: (fact?.default_of_id ?? null) !== null }),
        ...(settings !== undefined && {
          settings: presentSettings({ domain, settings: settings.get(domain.id) }),
        }),
      }
    })
  }
}

/** @param fact undefined when the domain was deleted a moment ago */
function presentDns(
  { host, status }: Domain,
  fact: DomainFacts | undefined,
): IncludingDomain['dns'] {
  const instant = (micros: number | null | undefined) =>
    micros === null || micros === undefined ? null : formatInstant(micros)
  const { verdict = null, missing_since: since = null, other_active_id: other = null } = fact ?? {}
  return {
    unicode_domain: displayHost(host),
    verdict,
    // Only a workspace that has proved the host may learn that another workspace has it.
    is_active_elsewhere: status === 'pending' && verdict === 'proved' && other !== null,
    last_check_at: instant(fact?.checked_at),
    next_check_at: instant(fact?.next_at),
    missing_since: instant(since),
    pending_from: instant(since === null ? null : pendingFrom(since)),
  }
}
