import {
  type ClaimableHosts,
  formatHost,
  parseHost,
  refuseLoops,
  type ServiceName,
} from '../hosts/index.ts'
import { enforceQuotas, type QuotaBook } from '../identity/index.ts'
import { hostChange } from '../platform/changes/change.ts'
import type { Random } from '../platform/crypto/random.ts'
import { isUuid } from '../platform/crypto/uuid.ts'
import type { Page, Run } from '../platform/database/page.ts'
import { type Store, UniqueViolation } from '../platform/database/store.ts'
import { Failure, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import { once } from '../platform/idempotency/once.ts'
import type { IdempotentRequest } from '../platform/idempotency/store/idempotency-store.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import { waitForAll } from '../platform/work/wait-for-all.ts'
import { newSchedule } from './check-schedule.ts'
import { insertClaim, NEW_CLAIM, newClaim } from './claim.ts'
import { type Domain, domainVersion } from './domain.ts'
import { type DomainChanges, type DomainInput, parseDomainInput } from './domain-input.ts'
import type { DomainStores } from './domain-stores.ts'
import { isProvedWithoutDns, type ProofPolicy } from './proof.ts'
import type { DomainMark, DomainRun } from './store/domain-store.ts'

export type Domains = {
  /** The claim as it was made: `pending`, even where its proof followed at once. */
  create(workspaceId: string, input: DomainInput, request?: IdempotentRequest): Promise<Domain>
  /** @throws {Failure} `not_found` */
  get(workspaceId: string, id: string): Promise<Domain>
  /**
   * The workspace's claim on a host.
   *
   * @throws {Failure} `not_found`, `validation_failed` for a text that is no host name
   */
  getByHost(workspaceId: string, text: string): Promise<Domain>
  list(workspaceId: string, offset: number, limit: number): Promise<Page<Domain>>
  run(run: DomainRun): Promise<Run<Domain, DomainMark>>
  count(workspaceId: string): Promise<number>
  /** @throws {Failure} `not_found`, `validation_failed`, `precondition_failed` */
  update(
    workspaceId: string,
    id: string,
    input: DomainInput,
    expected?: ExpectedVersions,
  ): Promise<Domain>
  /** @throws {Failure} `validation_failed` for a host that no workspace may claim */
  refuseUnclaimable(host: string): void
  /** What is wrong with the fields of an input, as far as that can be told without the store. */
  faultsOf(input: DomainInput): FieldFaults
  /** @throws {Failure} `not_found`, `precondition_failed` */
  delete(workspaceId: string, id: string, expected?: ExpectedVersions): Promise<void>
  /**
   * Makes a claim active when it is proved; returns it as it then stands. What stands in the way now
   * is tried again later.
   */
  prove(domain: Domain): Promise<Domain>
  /** Looks once at every pending claim that needs no DNS: the policy may have changed. */
  proveAllPending(): Promise<void>
}

const PENDING_BATCH = 100

export function domains(deps: {
  store: Store<DomainStores>
  clock: Clock
  random: Random
  serviceHost: ServiceName
  claimable: ClaimableHosts
  proofPolicy: ProofPolicy
  quotas: QuotaBook
  /** Told that a check is due that needs DNS, and so is not made here. */
  onDue: () => void
  /** Told of a proof that could not be looked for, which fails no request. */
  onError: (error: unknown) => void
}): Domains {
  const { store, clock, random, serviceHost } = deps
  const parseInput = (input: DomainInput) => parseDomainInput(input, serviceHost)

  /** @throws {Failure} `validation_failed` for a fall-back that would lead back here */
  function refuseLoopsOf(stores: DomainStores, domain: Domain): Promise<void> {
    const { workspace_id: workspaceId, host, not_found_url, expired_url } = domain
    return refuseLoops(stores, serviceHost, { workspaceId, host }, { not_found_url, expired_url })
  }

  function refuseUnclaimable(host: string): void {
    const fault = deps.claimable.faultOf(host)
    if (fault !== undefined) throw Failure.invalid({ domain: [fault] })
  }

  async function prove(domain: Domain): Promise<Domain> {
    if (domain.status === 'active') return domain
    if (!isProvedWithoutDns(domain.host, deps.proofPolicy)) {
      deps.onDue()
      return domain
    }
    try {
      await store.write(async (stores) => {
        if ((await stores.domains.findActive(domain.host)) !== undefined) return
        const now = clock.nowMicros()
        if (!(await stores.domains.activate(domain.id, domain.host, now))) return
        await stores.changes.append(hostChange(domain.host), now)
      })
    } catch (error) {
      // Another workspace's claim became active between the look and the write: this one stays.
      if (!(error instanceof UniqueViolation)) throw error
    }
    return (await store.read.domains.findById(domain.workspace_id, domain.id)) ?? domain
  }

  /** A host that its active claim has left goes to the oldest other claim that is proved. */
  async function proveNextClaim(host: string): Promise<void> {
    for (const claim of await store.read.domains.pendingOn(host)) {
      if ((await prove(claim)).status === 'active') return
    }
  }

  async function get(workspaceId: string, id: string): Promise<Domain> {
    const domain = isUuid(id) ? await store.read.domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  /** For what has been committed: a proof that cannot be looked for now is looked for again later. */
  async function proveWhenPossible<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work()
    } catch (error) {
      deps.onError(error)
      return otherwise
    }
  }

  /** Writes the changes; returns the claim and, where it was renamed, the host that it left. */
  async function applyChanges(
    workspaceId: string,
    id: string,
    changes: DomainChanges,
    expected: ExpectedVersions,
  ): Promise<{ domain: Domain; leftHost: string | undefined }> {
    const limits = await deps.quotas.limitsOf(workspaceId)
    try {
      return await store.write(async (stores) => {
        const current = await stores.domains.findById(workspaceId, id)
        if (current === undefined) throw Failure.notFound('Domain')
        requireVersion(expected, domainVersion(current))
        const renamed = changes.host !== undefined && changes.host !== current.host
        if (renamed) refuseUnclaimable(changes.host)
        const isProofLost = renamed && current.status === 'active'
        const growth = { pending_domains: isProofLost ? 1 : 0 }
        await enforceQuotas(stores, limits, growth)
        const now = Math.max(clock.nowMicros(), current.updated_at + 1)
        const domain: Domain = {
          ...current,
          ...changes,
          status: renamed ? 'pending' : current.status,
          updated_at: now,
        }
        await refuseLoopsOf(stores, domain)
        await stores.domains.update(domain, current.updated_at)
        await stores.changes.append(hostChange(current.host), now)
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
        domain: ['has been added before, or still has links of its own in this workspace'],
      })
    }
  }

  return {
    async create(workspaceId, input, request) {
      const changes = parseInput(input)
      if (changes.host === undefined) throw Failure.invalid({ domain: ['is required'] })
      const host = changes.host
      refuseUnclaimable(host)
      const limits = await deps.quotas.limitsOf(workspaceId)
      const domain: Domain = { ...newClaim(workspaceId, host, clock, random), ...changes }
      const created = await store.write((stores) =>
        once(stores, workspaceId, request, clock.nowMicros(), {
          look: () =>
            waitForAll([refuseLoopsOf(stores, domain), enforceQuotas(stores, limits, NEW_CLAIM)]),
          async work() {
            if ((await insertClaim(stores, domain)) === undefined) {
              throw Failure.invalid({ domain: ['has been added before'] })
            }
            return domain
          },
        }),
      )
      await proveWhenPossible(() => prove(created), created)
      return created
    },

    get,
    refuseUnclaimable,
    async getByHost(workspaceId, text) {
      const parsed = parseHost(text)
      if ('fault' in parsed) throw Failure.invalid({ domain: [parsed.fault] })
      const domain = await store.read.domains.findByHost(workspaceId, parsed.value)
      if (domain === undefined) throw Failure.notFound(`Domain ${formatHost(parsed.value)}`)
      return domain
    },
    faultsOf: (input) => faultsFoundBy(() => parseInput(input)),
    list: (workspaceId, offset, limit) => store.read.domains.page(workspaceId, offset, limit),
    run: (run) => store.read.domains.run(run),
    count: (workspaceId) => store.read.domains.count(workspaceId),

    async update(workspaceId, id, input, expected) {
      const changes = parseInput(input)
      if (!isUuid(id)) throw Failure.notFound('Domain')
      const { domain, leftHost } = await applyChanges(workspaceId, id, changes, expected)
      return proveWhenPossible(async () => {
        if (leftHost !== undefined) await proveNextClaim(leftHost)
        return prove(domain)
      }, domain)
    },

    async delete(workspaceId, id, expected) {
      if (!isUuid(id)) throw Failure.notFound('Domain')
      const deleted = await store.write(async (stores) => {
        const domain = await stores.domains.delete(workspaceId, id)
        if (domain === undefined) throw Failure.notFound('Domain')
        requireVersion(expected, domainVersion(domain))
        await stores.keyspaces.deleteIfEmpty(workspaceId, domain.host)
        const now = clock.nowMicros()
        await stores.changes.append(hostChange(domain.host), now)
        if (domain.status === 'active') await stores.domainChecks.makeDue(domain.host, now)
        return domain
      })
      await proveWhenPossible(() => proveNextClaim(deleted.host), undefined)
    },

    prove: (domain) => proveWhenPossible(() => prove(domain), domain),

    async proveAllPending() {
      let afterId = '00000000-0000-0000-0000-000000000000'
      for (;;) {
        const batch = await store.read.domains.pendingAfter(afterId, PENDING_BATCH)
        for (const domain of batch) {
          if (isProvedWithoutDns(domain.host, deps.proofPolicy)) await prove(domain)
        }
        const last = batch.at(-1)
        if (last === undefined) return
        afterId = last.id
      }
    },
  }
}
