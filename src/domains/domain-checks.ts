import type { ClaimableHosts } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { isUuid } from '../platform/crypto/uuid.ts'
import { StaleRow, type Store, UniqueViolation } from '../platform/database/store.ts'
import type { DnsResolver } from '../platform/dns/dns-resolver.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { DueOwners } from '../platform/work/due-owners.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import { LeaseRunner } from '../platform/work/lease-runner.ts'
import { concludeCheck, type DomainMove } from './check-conclusion.ts'
import { newSchedule } from './check-schedule.ts'
import { type DnsLook, dnsLooks } from './dns-look.ts'
import { type CertificateFinder, type DnsReport, reportLook } from './dns-report.ts'
import type { Domain } from './domain.ts'
import type { CheckStores, RetriedOrders } from './domain-stores.ts'
import type { ProofPolicy } from './proof.ts'
import type { ServiceTarget } from './service-target.ts'
import type { LeasedCheck } from './store/domain-check-store.ts'

/** Scheduled checks that one process has under way at once. Each asks some five questions of DNS. */
const CHECKS_MAX = 32
/** Of these, how many may belong to one workspace: its silent names leave room for the others. */
const CHECKS_PER_WORKSPACE_MAX = 8
/** Looks that callers of the API wait for. */
export const LOOK_QUEUE = {
  work: 'DNS look-ups',
  concurrency: 16,
  concurrencyPerOwner: 4,
  waitingPerOwnerMax: 16,
  waitingMax: 256,
  deadlineMs: 5_000,
}
/** Longer than the slowest check, so that a lease ends early only with its process. */
const LEASE_MICROS = 2 * 60_000_000
/** How often somebody may ask for a check of one domain. */
const DEMAND_INTERVAL_MICROS = 60_000_000

export type DomainChecks = {
  /** Starts the checks that are due, the workspaces in turn, as far as there is room for them. */
  startDue(): Promise<void>
  /** Settles when no check is under way. */
  settled(): Promise<void>
  /**
   * Looks at DNS now, and changes nothing.
   *
   * @throws {Failure} `not_found`
   * @throws {QueueRefusal} while others look, or the workspace itself does
   */
  report(actor: Actor, id: string): Promise<DnsReport>
  /**
   * Checks a domain now, and changes its status where that follows.
   *
   * @throws {Failure} `not_found`; `rate_limited` within a minute of the last time it was asked for
   * @throws {QueueRefusal} as `report`
   */
  verify(actor: Actor, id: string): Promise<DnsReport>
  /** Ends the checks under way without a result. */
  cancel(): void
}

export function domainChecks(deps: {
  store: Store<CheckStores & RetriedOrders>
  clock: Clock
  resolver: DnsResolver
  policy: ProofPolicy
  /** From the instance's key, for `domain-proof`. */
  proofKey: Buffer
  target: ServiceTarget
  isReserved: ClaimableHosts['isReserved']
  /** For `LOOK_QUEUE`. */
  looks: FairQueue
  /** Told of a check that failed; it is made again. */
  onError: (error: unknown) => void
  onMove: (move: DomainMove) => void
  /** Called when a check has ended, so that there is room for another. */
  onSlotFree: () => void
  /** How a host's certificate stands; undefined where certificates are somebody else's work. */
  findCertificate: CertificateFinder | undefined
}): DomainChecks {
  const { store, clock, resolver } = deps
  const { look, hasLostProof } = dnsLooks(deps)
  const turns = new DueOwners((from, to) => store.read.domainChecks.findDueWorkspaces(from, to))
  const checking = new LeaseRunner<LeasedCheck>({
    concurrency: CHECKS_MAX,
    concurrencyPerWorkspace: CHECKS_PER_WORKSPACE_MAX,
    run: checkSafely,
    onSlotFree: deps.onSlotFree,
  })
  let isCancelled = false

  async function check(lease: LeasedCheck): Promise<DnsLook> {
    const seen = await look(lease.domain)
    if (isCancelled) {
      await store.write((stores) => stores.domainChecks.release(lease.domain.id, lease.fence))
      return seen
    }
    try {
      const move = await concludeCheck({ store, clock, hasLostProof }, lease, seen)
      if (move !== undefined) deps.onMove(move)
    } catch (error) {
      // Another claim became active between the look and the write: this one is checked again.
      if (!(error instanceof UniqueViolation)) throw error
    }
    return seen
  }

  async function checkSafely(lease: LeasedCheck): Promise<void> {
    try {
      await check(lease)
    } catch (error) {
      deps.onError(error)
    }
  }

  async function get({ workspaceId }: Actor, id: string): Promise<Domain> {
    const domain = isUuid(id) ? await store.read.domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  /** Takes the check for somebody who asked for it. */
  async function leaseOnDemand(id: string): Promise<LeasedCheck> {
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
      // Whoever asks is at work on it: the checks that follow come quickly again.
      return lease.domain.status === 'pending' ? { ...lease, schedule: newSchedule(now) } : lease
    })
  }

  return {
    async startDue() {
      const now = clock.nowMicros()
      await turns.refresh(now)
      for (;;) {
        const inTurn = turns.next().map((id) => [id, checking.freeSlotsOf(id)] as const)
        const shares = new Map(inTurn.filter(([, room]) => room > 0))
        if (isCancelled || checking.freeSlots === 0 || shares.size === 0) return
        const { leases, idle } = await store.write((stores) =>
          stores.domainChecks.leaseDue(shares, now, now + LEASE_MICROS, checking.freeSlots),
        )
        for (const lease of leases) checking.start(lease)
        turns.settle(new Set(leases.map(({ workspaceId }) => workspaceId)), idle)
        if (leases.length === 0 && idle.length === 0) return
      }
    },

    settled: () => checking.settled(),

    async report(actor, id) {
      const domain = await get(actor, id)
      return deps.looks.run(actor.workspaceId, async () =>
        reportLook(deps, domain, await look(domain)),
      )
    },

    async verify(actor, id) {
      await get(actor, id)
      return deps.looks.run(actor.workspaceId, async () => {
        const lease = await leaseOnDemand(id)
        const seen = await check(lease)
        if (deps.findCertificate !== undefined) {
          const { host } = lease.domain
          await store.write((stores) => stores.certificateOrders.makeDue(host, clock.nowMicros()))
        }
        return reportLook(deps, lease.domain, seen)
      })
    },

    cancel() {
      isCancelled = true
      resolver.cancel()
    },
  }
}
