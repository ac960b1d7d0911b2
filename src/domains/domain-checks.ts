import type { ClaimableHosts } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { isUuid } from '../platform/crypto/random.ts'
import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import { DueOwners, LeaseRunner } from '../platform/work/leases.ts'
import { hostChange } from '../storage/changes.ts'
import { StaleRow, type Store, UniqueViolation } from '../storage/store.ts'
import { decideCheck, demotedSchedule, newSchedule } from './check-schedule.ts'
import type { CheckStores, RetriedOrders } from './claim.ts'
import {
  type CertificateFinder,
  type DnsLookup,
  DnsLookups,
  type DnsReport,
  reportLookup,
} from './dns-lookup.ts'
import type { ProofPolicy, ServiceTarget } from './dns-records.ts'
import { type Domain, domainChecker, domainUnverified, domainVerified } from './domain.ts'
import type { LeasedCheck } from './store/domain-check-store.ts'

/** The maximum number of scheduled checks that run at once. Each sends about five DNS queries. */
const CHECKS_MAX = 32
/** The maximum for one workspace, so that its names with slow DNS servers do not delay other workspaces. */
const CHECKS_PER_WORKSPACE_MAX = 8
/** The queue of look-ups that callers of the API wait for. */
export const LOOKUP_QUEUE = {
  work: 'DNS look-ups',
  concurrency: 16,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 16,
  waitingMax: 256,
  deadlineMs: 5_000,
}
/** Longer than the slowest check, so that a lease expires early only if its process has died. */
const LEASE_MICROS = 2 * 60_000_000
/** The shortest time between two checks of one domain on demand. */
const DEMAND_INTERVAL_MICROS = 60_000_000

type DomainChecksOptions = {
  readonly store: Store<CheckStores & RetriedOrders>
  readonly clock: Clock
  readonly resolver: DnsResolver
  readonly policy: ProofPolicy
  /** Derived from the instance's key, for `domain-proof`. */
  readonly proofKey: Buffer
  readonly target: ServiceTarget
  readonly isReserved: ClaimableHosts['isReserved']
  /** With `LOOKUP_QUEUE`. */
  readonly lookups: FairQueue
  /** Called with the error of a check that failed and will be retried. */
  readonly onError: (error: unknown) => void
  readonly onMove: (move: DomainMove) => void
  /** Called when a check has ended, so that another can start. */
  readonly onSlotFree: () => void
  /** Returns the state of a host's certificate; undefined when this service issues none. */
  readonly findCertificate: CertificateFinder | undefined
}

/** Checks the DNS records of domains, on a schedule and on demand, and changes their status. */
export class DomainChecks {
  readonly #options: DomainChecksOptions
  readonly #lookups: DnsLookups
  readonly #owners: DueOwners
  readonly #running: LeaseRunner<LeasedCheck>
  #isCancelled = false

  constructor(options: DomainChecksOptions) {
    const { store, onError, onSlotFree } = options
    this.#options = options
    this.#lookups = new DnsLookups(options)
    this.#owners = new DueOwners((from, to) => store.read.domainChecks.findDueWorkspaces(from, to))
    this.#running = new LeaseRunner<LeasedCheck>({
      concurrency: CHECKS_MAX,
      concurrencyPerWorkspace: CHECKS_PER_WORKSPACE_MAX,
      run: async (lease) => {
        try {
          await this.#check(lease)
        } catch (error) {
          onError(error)
        }
      },
      onSlotFree,
    })
  }

  /** Starts due checks, round robin across workspaces, up to the limit of running checks. */
  async startDue(): Promise<void> {
    const { store, clock } = this.#options
    const running = this.#running
    const now = clock.nowMicros()
    await this.#owners.refresh(now)
    for (;;) {
      const inTurn = this.#owners.next().map((id) => [id, running.freeSlotsOf(id)] as const)
      const shares = new Map(inTurn.filter(([, slots]) => slots > 0))
      if (this.#isCancelled || running.freeSlots === 0 || shares.size === 0) return
      const { leases, idle } = await store.write((stores) =>
        stores.domainChecks.leaseDue(shares, now, now + LEASE_MICROS, running.freeSlots),
      )
      for (const lease of leases) running.start(lease)
      this.#owners.settle(new Set(leases.map(({ workspaceId }) => workspaceId)), idle)
      if (leases.length === 0 && idle.length === 0) return
    }
  }

  /** Settles when no check is running. */
  settled(): Promise<void> {
    return this.#running.settled()
  }

  /**
   * Looks a domain up in DNS now, without changing its status.
   *
   * @throws {Failure} `not_found`
   * @throws {QueueRefusal} when too many look-ups are waiting, of the workspace or in total
   */
  async report(actor: Actor, id: string): Promise<DnsReport> {
    const domain = await this.#get(actor, id)
    return this.#options.lookups.run(actor.workspaceId, async () =>
      reportLookup(this.#options, domain, await this.#lookups.lookUp(domain)),
    )
  }

  /**
   * Checks a domain now, and changes its status when the result requires it.
   *
   * @throws {Failure} `not_found`; `rate_limited` within a minute of the last check on demand
   * @throws {QueueRefusal} like `report`
   */
  async verify(actor: Actor, id: string): Promise<DnsReport> {
    const { store, clock, lookups, findCertificate } = this.#options
    await this.#get(actor, id)
    return lookups.run(actor.workspaceId, async () => {
      const lease = await this.#leaseOnDemand(id)
      const seen = await this.#check(lease)
      if (findCertificate !== undefined) {
        const { host } = lease.domain
        await store.write((stores) => stores.certificateOrders.makeDue(host, clock.nowMicros()))
      }
      return reportLookup(this.#options, lease.domain, seen)
    })
  }

  /** Ends the running checks without a result. */
  cancel(): void {
    this.#isCancelled = true
    this.#options.resolver.cancel()
  }

  async #check(lease: LeasedCheck): Promise<DnsLookup> {
    const { store, clock, onMove } = this.#options
    const hasLostProof: DnsLookups['hasLostProof'] = (active, seen) =>
      this.#lookups.hasLostProof(active, seen)
    const seen = await this.#lookups.lookUp(lease.domain)
    if (this.#isCancelled) {
      await store.write((stores) => stores.domainChecks.release(lease))
      return seen
    }
    try {
      const move = await concludeCheck({ store, clock, hasLostProof }, lease, seen)
      if (move !== undefined) onMove(move)
    } catch (error) {
      // Another claim became active between the look-up and the write. This claim is checked again later.
      if (!(error instanceof UniqueViolation)) throw error
    }
    return seen
  }

  async #get({ workspaceId }: Actor, id: string): Promise<Domain> {
    const { read } = this.#options.store
    const domain = isUuid(id) ? await read.domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  async #leaseOnDemand(id: string): Promise<LeasedCheck> {
    const { store, clock } = this.#options
    return store.write(async (stores) => {
      const now = clock.nowMicros()
      const times = await stores.domainChecks.find(id)
      if (times === undefined) throw Failure.notFound('Domain')
      const sinceMicros = now - (times.demanded_at ?? Number.NEGATIVE_INFINITY)
      if (sinceMicros >= 0 && sinceMicros < DEMAND_INTERVAL_MICROS) {
        throw Failure.tooMany(
          'A domain is checked on demand once a minute at most.',
          Math.ceil((DEMAND_INTERVAL_MICROS - sinceMicros) / 1_000_000),
        )
      }
      const lease = await stores.domainChecks.lease(id, now + LEASE_MICROS)
      if (lease === undefined) throw new StaleRow()
      await stores.domainChecks.noteDemand(id, now)
      // The caller is probably setting the domain up, so the next checks follow quickly again.
      return lease.domain.status === 'pending' ? { ...lease, schedule: newSchedule(now) } : lease
    })
  }
}

/** A host that has become active in another workspace. */
export type DomainMove = {
  readonly host: string
  readonly fromWorkspaceId: string
  readonly toWorkspaceId: string
}

/**
 * Stores the result of a check and the change of status that follows from it, in one transaction. Stores
 * nothing when the lease was lost, or when the domain was renamed or deleted during the look-up.
 *
 * @throws {UniqueViolation} when another claim on the host became active meanwhile
 */
async function concludeCheck(
  deps: { store: Store<CheckStores>; clock: Clock; hasLostProof: DnsLookups['hasLostProof'] },
  lease: LeasedCheck,
  seen: DnsLookup,
): Promise<DomainMove | undefined> {
  const { store, clock, hasLostProof } = deps
  return store.write(async (stores) => {
    const { host, workspace_id, id } = lease.domain
    const now = clock.nowMicros()
    const domain = await stores.domains.findById(workspace_id, id)
    if (domain === undefined) return undefined
    const holder =
      seen.verdict === 'proved' && domain.status === 'pending'
        ? await stores.domains.findActive(host)
        : undefined
    const mayMove = holder === undefined || hasLostProof(holder, seen)
    const verdict = mayMove ? seen.verdict : 'unproved'
    const { change, schedule } = decideCheck(domain.status, lease.schedule, verdict, now)
    const check = { at: now, verdict: seen.verdict }
    if (!(await stores.domainChecks.finish(lease, schedule, check))) return undefined
    if (change === 'none') return undefined
    if (change === 'deactivate') {
      await stores.domainChecks.makeDue(host, now)
      await deactivate(stores, domain, now)
      return undefined
    }
    if (holder !== undefined) {
      await stores.domainChecks.restart(holder.id, demotedSchedule(now))
      await deactivate(stores, holder, now)
    }
    await stores.domains.activate(id, host, now)
    await stores.changes.append(hostChange(host), now)
    await stores.events.append(domainChecker(workspace_id), domainVerified(domain), now)
    return holder && { host, fromWorkspaceId: holder.workspace_id, toWorkspaceId: workspace_id }
  })
}

async function deactivate(stores: CheckStores, domain: Domain, now: number): Promise<void> {
  await stores.domains.deactivate(domain.id, domain.host, now)
  await stores.changes.append(hostChange(domain.host), now)
  await stores.events.append(domainChecker(domain.workspace_id), domainUnverified(domain), now)
}
