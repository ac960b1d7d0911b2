import {
  type ClaimableHosts,
  formatHost,
  hostThatCouldLoop,
  parseHost,
  type ServiceName,
} from '../hosts/index.ts'
import {
  type Actor,
  enforceQuotas,
  type QuotaBook,
  requireRecentAuthentication,
} from '../identity/index.ts'
import { isUuid, type Random } from '../platform/crypto/random.ts'
import { Failure, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Page, Run } from '../platform/http/api/pagination.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import { hostChange } from '../storage/changes.ts'
import { runIdempotent } from '../storage/idempotency.ts'
import { type Store, UniqueViolation } from '../storage/store.ts'
import { newSchedule } from './check-schedule.ts'
import { type DomainStores, insertClaim, NEW_CLAIM, newClaim } from './claim.ts'
import { isProvedWithoutDns, type ProofPolicy } from './dns-records.ts'
import {
  type Domain,
  type DomainChanges,
  type DomainInput,
  defaultChanged,
  defaultVersion,
  domainChecker,
  domainDeleted,
  domainUpdated,
  domainVerified,
  domainVersion,
  parseDomainInput,
} from './domain.ts'
import type { DomainFilter, DomainMark, DomainRun } from './store/domain-store.ts'

const PENDING_BATCH = 100

/** The domain with this name, in any spelling; all domains when undefined. */
type NameFilter = { readonly name?: string | undefined }

type DomainDependencies = {
  readonly store: Store<DomainStores>
  readonly clock: Clock
  readonly random: Random
  readonly serviceHost: ServiceName
  readonly claimable: ClaimableHosts
  readonly proofPolicy: ProofPolicy
  readonly quotas: QuotaBook
  /** Called when a check became due that needs DNS. */
  readonly onDue: () => void
  /** Called with the error of a failed activation, which does not fail the request. */
  readonly onError: (error: unknown) => void
}

/** The operations on domains. Each acts within the workspace of its actor. */
export class Domains {
  readonly #deps: DomainDependencies

  constructor(deps: DomainDependencies) {
    this.#deps = deps
  }

  /**
   * Returns the domain as it was inserted: `pending`, even if it was activated right afterwards.
   *
   * @throws {Failure} `validation_failed`, `idempotency_conflict`
   */
  async create(actor: Actor, input: DomainInput, request?: IdempotentRequest): Promise<Domain> {
    const { store, clock, quotas } = this.#deps
    const { workspaceId } = actor
    const domain = this.#newDomain(actor, input)
    const limits = await quotas.limitsOf(workspaceId)
    const created = await store.write((stores) =>
      runIdempotent(stores, workspaceId, request, clock.nowMicros(), {
        read: () => enforceQuotas(stores, limits, NEW_CLAIM),
        async write() {
          if ((await insertClaim(stores, actor, domain)) === undefined) throw addedBefore()
          return domain
        },
      }),
    )
    await this.prove(created)
    return created
  }

  /**
   * Does nothing where `create` would succeed, apart from quotas.
   *
   * @throws {Failure} `validation_failed`
   */
  async preview(actor: Actor, input: DomainInput): Promise<void> {
    const { host } = this.#newDomain(actor, input)
    const { domains } = this.#deps.store.read
    if ((await domains.findByHost(actor.workspaceId, host)) !== undefined) throw addedBefore()
  }

  /** @throws {Failure} `not_found` */
  async get({ workspaceId }: Actor, id: string): Promise<Domain> {
    const { domains } = this.#deps.store.read
    const domain = isUuid(id) ? await domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  /**
   * Returns the workspace's domain with this host.
   *
   * @throws {Failure} `not_found`; `validation_failed` when the text is not a host name
   */
  async getByHost({ workspaceId }: Actor, text: string): Promise<Domain> {
    const host = parseHostName(text)
    const domain = await this.#deps.store.read.domains.findByHost(workspaceId, host)
    if (domain === undefined) throw Failure.notFound(`Domain ${formatHost(host)}`)
    return domain
  }

  /** @throws {Failure} `validation_failed` when the name of the filter is not a host name */
  list(actor: Actor, filter: NameFilter, offset: number, limit: number): Promise<Page<Domain>> {
    return this.#deps.store.read.domains.page(filterFor(actor, filter), offset, limit)
  }

  /** Throws what `list` throws. */
  run(
    actor: Actor,
    { name, ...run }: NameFilter & Omit<DomainRun, keyof DomainFilter>,
  ): Promise<Run<Domain, DomainMark>> {
    return this.#deps.store.read.domains.run({ ...run, ...filterFor(actor, { name }) })
  }

  /** Throws what `list` throws. */
  count(actor: Actor, filter: NameFilter): Promise<number> {
    return this.#deps.store.read.domains.count(filterFor(actor, filter))
  }

  /** @throws {Failure} `not_found`, `validation_failed`, `precondition_failed` */
  async update(
    actor: Actor,
    id: string,
    input: DomainInput,
    expected?: ExpectedVersions,
  ): Promise<Domain> {
    const changes = this.#parse(input)
    if (!isUuid(id)) throw Failure.notFound('Domain')
    const { domain, leftHost } = await this.#applyChanges(actor, id, changes, expected)
    return this.#proveWhenPossible(async () => {
      if (leftHost !== undefined) await this.#proveNextClaim(leftHost)
      return this.#prove(domain)
    }, domain)
  }

  /**
   * @throws {Failure} `not_found`, `precondition_failed`; `authentication_required` for a domain with links
   */
  async delete(actor: Actor, id: string, expected?: ExpectedVersions): Promise<void> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    if (!isUuid(id)) throw Failure.notFound('Domain')
    const deleted = await store.write(async (stores) => {
      const domain = await stores.domains.delete(workspaceId, id)
      if (domain === undefined) throw Failure.notFound('Domain')
      requireVersion(expected, domainVersion(domain))
      await stores.keyspaces.deleteIfEmpty(workspaceId, domain.host)
      const keyspace = await stores.keyspaces.find(workspaceId, domain.host)
      // Its links stop answering. An empty keyspace has just been deleted.
      if (keyspace !== undefined) requireRecentAuthentication(actor)
      const now = clock.nowMicros()
      await stores.changes.append(hostChange(domain.host), now)
      await stores.events.append(actor, domainDeleted(domain), now)
      if (domain.status === 'active') await stores.domainChecks.makeDue(domain.host, now)
      return domain
    })
    await this.#proveWhenPossible(() => this.#proveNextClaim(deleted.host), undefined)
  }

  /** Returns the domain on which new links of the workspace start. */
  findDefault({ workspaceId }: Actor): Promise<Domain | undefined> {
    return this.#deps.store.read.domains.findDefault(workspaceId)
  }

  /**
   * Lets new links start on the domain with this host, which may still be pending.
   *
   * @param host null: the workspace has no default domain
   * @throws {Failure} `validation_failed`, `precondition_failed`
   */
  setDefault(
    actor: Actor,
    host: string | null,
    expected?: ExpectedVersions,
  ): Promise<Domain | undefined> {
    return this.#changeDefault(actor, host, (current) => {
      requireVersion(expected, defaultVersion(current))
      return true
    })
  }

  /**
   * Does what `setDefault` does, unless the workspace has a default domain.
   *
   * @throws {Failure} `validation_failed`
   */
  async proposeDefault(actor: Actor, host: string): Promise<void> {
    await this.#changeDefault(actor, host, (current) => current === undefined)
  }

  /** @throws {Failure} `validation_failed` for a host that no workspace may claim */
  refuseUnclaimable(host: string): void {
    const fault = this.#deps.claimable.faultOf(host)
    if (fault !== undefined) throw Failure.invalid({ domain: [fault] })
  }

  /** Returns the faults of an input's fields that can be found without the database. */
  faultsOf(input: DomainInput): FieldFaults {
    return faultsFoundBy(() => this.#parse(input))
  }

  /**
   * Activates a claim that is proved without DNS; others become due for a check. Returns the current
   * domain. Never throws: the scheduled checks retry a failed activation.
   */
  prove(domain: Domain): Promise<Domain> {
    return this.#proveWhenPossible(() => this.#prove(domain), domain)
  }

  /** Activates every pending claim that is proved without DNS: the policy may have changed. */
  async proveAllPending(): Promise<void> {
    const { store, proofPolicy } = this.#deps
    let afterId = '00000000-0000-0000-0000-000000000000'
    for (;;) {
      const batch = await store.read.domains.pendingAfter(afterId, PENDING_BATCH)
      for (const domain of batch) {
        if (isProvedWithoutDns(domain.host, proofPolicy)) await this.#prove(domain)
      }
      const last = batch.at(-1)
      if (last === undefined) return
      afterId = last.id
    }
  }

  /** @throws {Failure} `validation_failed` */
  #newDomain({ workspaceId }: Actor, input: DomainInput): Domain {
    const { clock, random } = this.#deps
    const changes = this.#parse(input)
    if (changes.host === undefined) throw Failure.invalid({ domain: [{ code: 'required' }] })
    this.refuseUnclaimable(changes.host)
    const domain = { ...newClaim(workspaceId, changes.host, clock, random), ...changes }
    this.#refuseLoop(domain)
    return domain
  }

  #parse(input: DomainInput): DomainChanges {
    return parseDomainInput(input, this.#deps.serviceHost)
  }

  /**
   * The root of the domain is answered with `not_found_url`. What leads back through links, which come and go, is found
   * out by a visit.
   *
   * @throws {Failure} `validation_failed`
   */
  #refuseLoop({ host, not_found_url: url }: Domain): void {
    if (url === null || hostThatCouldLoop(url, this.#deps.serviceHost) !== host) return
    if (new URL(url).pathname !== '/') return
    throw Failure.invalid({ not_found_url: [{ code: 'loop', reason: 'domain' }] })
  }

  /**
   * @param decide whether the default that was read in the transaction is replaced
   * @returns the default domain afterwards
   */
  #changeDefault(
    actor: Actor,
    text: string | null,
    decide: (current: Domain | undefined) => boolean,
  ): Promise<Domain | undefined> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    const host = text === null ? undefined : parseHostName(text)
    return store.write(async (stores) => {
      const current = await stores.domains.findDefault(workspaceId)
      if (!decide(current) || current?.host === host) return current
      const next =
        host === undefined ? undefined : await stores.domains.findByHost(workspaceId, host)
      if (host !== undefined && next === undefined) {
        throw Failure.invalid({ domain: [{ code: 'unknown_domain' }] })
      }
      await stores.domains.setDefault(workspaceId, next?.id)
      const now = clock.nowMicros()
      if (current) await stores.events.append(actor, defaultChanged(current, false), now)
      if (next) await stores.events.append(actor, defaultChanged(next, true), now)
      return next
    })
  }

  /** Writes the changes; returns the domain, and its previous host if it was renamed. */
  async #applyChanges(
    actor: Actor,
    id: string,
    changes: DomainChanges,
    expected: ExpectedVersions,
  ): Promise<{ domain: Domain; leftHost: string | undefined }> {
    const { store, clock, quotas } = this.#deps
    const { workspaceId } = actor
    const limits = await quotas.limitsOf(workspaceId)
    try {
      return await store.write(async (stores) => {
        const current = await stores.domains.findById(workspaceId, id)
        if (current === undefined) throw Failure.notFound('Domain')
        requireVersion(expected, domainVersion(current))
        const renamed = changes.host !== undefined && changes.host !== current.host
        if (renamed) this.refuseUnclaimable(changes.host)
        const isProofLost = renamed && current.status === 'active'
        await enforceQuotas(stores, limits, { pending_domains: isProofLost ? 1 : 0 })
        const now = Math.max(clock.nowMicros(), current.updated_at + 1)
        const status = renamed ? 'pending' : current.status
        const domain: Domain = { ...current, ...changes, status, updated_at: now }
        this.#refuseLoop(domain)
        await stores.domains.update(domain, current.updated_at)
        await stores.changes.append(hostChange(current.host), now)
        await stores.events.append(actor, domainUpdated(current, domain), now)
        if (!renamed) return { domain, leftHost: undefined }
        await stores.keyspaces.deleteIfEmpty(workspaceId, domain.host)
        await stores.keyspaces.rename(workspaceId, current.host, domain.host)
        await stores.changes.append(hostChange(domain.host), now)
        await stores.domainChecks.restart(id, newSchedule(now))
        await stores.hsts.remove(id)
        if (isProofLost) await stores.domainChecks.makeDue(current.host, now)
        return { domain, leftHost: current.host }
      })
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error
      throw Failure.invalid({
        domain: [{ code: 'taken', reason: 'domain_or_links' }],
      })
    }
  }

  async #prove(domain: Domain): Promise<Domain> {
    const { store, clock, proofPolicy, onDue } = this.#deps
    if (domain.status === 'active') return domain
    if (!isProvedWithoutDns(domain.host, proofPolicy)) {
      onDue()
      return domain
    }
    try {
      await store.write(async (stores) => {
        if ((await stores.domains.findActive(domain.host)) !== undefined) return
        const now = clock.nowMicros()
        if (!(await stores.domains.activate(domain.id, domain.host, now))) return
        await stores.changes.append(hostChange(domain.host), now)
        const checker = domainChecker(domain.workspace_id)
        await stores.events.append(checker, domainVerified(domain), now)
      })
    } catch (error) {
      // Another workspace's claim became active between the read and the write: this one stays pending.
      if (!(error instanceof UniqueViolation)) throw error
    }
    return (await store.read.domains.findById(domain.workspace_id, domain.id)) ?? domain
  }

  /** Gives a host that no domain uses now to the oldest pending claim that is proved. */
  async #proveNextClaim(host: string): Promise<void> {
    for (const claim of await this.#deps.store.read.domains.pendingOn(host)) {
      if ((await this.#prove(claim)).status === 'active') return
    }
  }

  /** For activations after a commit: reports an error instead of failing the request. */
  async #proveWhenPossible<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#deps.onError(error)
      return otherwise
    }
  }
}

function addedBefore(): Failure {
  return Failure.invalid({ domain: [{ code: 'taken', reason: 'domain' }] })
}

function filterFor({ workspaceId }: Actor, { name }: NameFilter): DomainFilter {
  return { workspaceId, host: name === undefined ? undefined : parseHostName(name) }
}

/** @throws {Failure} `validation_failed` */
function parseHostName(text: string): string {
  const parsed = parseHost(text)
  if ('fault' in parsed) throw Failure.invalid({ domain: [parsed.fault] })
  return parsed.value
}
