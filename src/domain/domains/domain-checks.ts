import type { Clock } from '../../lib/clock.ts'
import { Shares } from '../../lib/shares.ts'
import { isUuid } from '../../lib/uuid.ts'
import { Failure } from '../failure.ts'
import { StaleRow, type Store, UniqueViolation } from '../store.ts'
import { concludeCheck, type DomainMove } from './check-conclusion.ts'
import { newSchedule } from './check-schedule.ts'
import { type DnsLook, dnsLooks } from './dns-look.ts'
import { type CertificateFinder, type DnsReport, reportLook } from './dns-report.ts'
import type { DnsResolver } from './dns-resolver.ts'
import type { Domain } from './domain.ts'
import type { LeasedCheck } from './domain-check-store.ts'
import type { ProofPolicy } from './proof.ts'
import type { ServiceTarget } from './service-target.ts'

/** Checks that one process has under way at once. */
const CHECKS_MAX = 16
/** Looks at DNS that one workspace has under way at once. */
const LOOKS_MAX = 4
/** Longer than the slowest check, so that a lease ends early only with its process. */
const LEASE_MICROS = 2 * 60_000_000
/** How often somebody may ask for a check of one domain. */
const DEMAND_INTERVAL_MICROS = 60_000_000

export type DomainChecks = {
  /** Checks what is due, until nothing is, or until `cancel`. */
  runDue(): Promise<void>
  /**
   * Looks at DNS now, and changes nothing.
   *
   * @throws {Failure} `not_found`, `rate_limited`
   */
  report(workspaceId: string, id: string): Promise<DnsReport>
  /**
   * Checks a domain now, and changes its status where that follows.
   *
   * @throws {Failure} `not_found`; `rate_limited` within a minute of the last time it was asked for
   */
  verify(workspaceId: string, id: string): Promise<DnsReport>
  /** Ends the checks under way without a result. */
  cancel(): void
}

export function domainChecks(deps: {
  store: Store
  clock: Clock
  resolver: DnsResolver
  policy: ProofPolicy
  /** From the instance's key, for `domain-proof`. */
  proofKey: Buffer
  target: ServiceTarget
  /** Told of a check that failed; it is made again. */
  onError: (error: unknown) => void
  onMove: (move: DomainMove) => void
  /** How a host's certificate stands; undefined where certificates are somebody else's work. */
  findCertificate: CertificateFinder | undefined
}): DomainChecks {
  const { store, clock, resolver } = deps
  const { look, hasLostProof } = dnsLooks(deps)
  const looks = new Shares(LOOKS_MAX)
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

  async function get(workspaceId: string, id: string): Promise<Domain> {
    const domain = isUuid(id) ? await store.read.domains.findById(workspaceId, id) : undefined
    if (domain === undefined) throw Failure.notFound('Domain')
    return domain
  }

  /** Looks at DNS within the workspace's share of it. */
  async function within<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
    const result = looks.run(workspaceId, work)
    if (result === undefined) {
      throw Failure.tooMany(`A workspace may look at ${LOOKS_MAX} domains at once.`)
    }
    return result
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
    async runDue() {
      while (!isCancelled) {
        const now = clock.nowMicros()
        if (!(await store.read.domainChecks.hasDue(now))) return
        const leases = await store.write((stores) =>
          stores.domainChecks.leaseDue(now, now + LEASE_MICROS, CHECKS_MAX),
        )
        if (leases.length === 0) return
        await Promise.all(leases.map(checkSafely))
      }
    },

    async report(workspaceId, id) {
      const domain = await get(workspaceId, id)
      return within(workspaceId, async () => reportLook(deps, domain, await look(domain)))
    },

    async verify(workspaceId, id) {
      await get(workspaceId, id)
      return within(workspaceId, async () => {
        const lease = await leaseOnDemand(id)
        const seen = await check(lease)
        if (deps.findCertificate !== undefined) {
          const { host } = lease.domain
          await store.write((stores) => stores.certificateOrders.hasten(host, clock.nowMicros()))
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
