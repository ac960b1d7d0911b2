import type { Clock } from '../../lib/clock.ts'
import { Shares } from '../../lib/shares.ts'
import { isUuid } from '../../lib/uuid.ts'
import type { CertificateStanding } from '../certificates/certificate-standing.ts'
import { hostChange } from '../changes/change.ts'
import { Failure } from '../failure.ts'
import { type Nouns, StaleRow, type Store, UniqueViolation } from '../store.ts'
import { decideCheck, demotedSchedule, newSchedule } from './check-schedule.ts'
import {
  activeElsewhere,
  adviseOnOwnership,
  adviseOnRouting,
  type DnsDifference,
} from './dns-advice.ts'
import { judgeOwnership, judgeRouting, type Verdict, verdictOf } from './dns-judgement.ts'
import { type DnsObservation, observeDns } from './dns-observation.ts'
import { type DnsRecord, recordsFor } from './dns-records.ts'
import { type DnsResolver, valuesOf } from './dns-resolver.ts'
import type { Domain } from './domain.ts'
import type { LeasedCheck } from './domain-check-store.ts'
import { isProvedWithoutDns, isSameProof, type ProofPolicy, proofText } from './proof.ts'
import { type ServiceTarget, serviceAddresses } from './service-target.ts'

/** Checks that one process has under way at once. */
const CHECKS_MAX = 16
/** Looks at DNS that one workspace has under way at once. */
const LOOKS_MAX = 4
/** Longer than the slowest check, so that a lease ends early only with its process. */
const LEASE_MICROS = 2 * 60_000_000
/** How often somebody may ask for a check of one domain. */
const DEMAND_INTERVAL_MICROS = 60_000_000
/** What an answer shows of a record set that may hold hundreds. */
const SHOWN_MAX = 20

/** What DNS should say of a domain, and what it says now. */
export type DnsReport = {
  readonly domain: Domain
  readonly policy: ProofPolicy
  readonly verdict: Verdict
  readonly records: readonly DnsRecord[]
  readonly seen: {
    readonly txt: readonly string[]
    readonly cname: readonly string[]
    readonly a: readonly string[]
    readonly aaaa: readonly string[]
  }
  readonly differences: readonly DnsDifference[]
  /** When the status was last checked, and when it will be. Microseconds since the epoch. */
  readonly checkedAt: number | null
  readonly nextCheckAt: number | null
  /** Null where the domain is not active, or certificates are somebody else's work. */
  readonly certificate: CertificateStanding | null
}

/** A domain that changed hands. */
export type DomainMove = {
  readonly host: string
  readonly fromWorkspaceId: string
  readonly toWorkspaceId: string
}

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

/** What a look at DNS showed of a claim. */
type Look = {
  readonly verdict: Verdict
  /** Undefined where DNS was not asked. */
  readonly observation: DnsObservation | undefined
  readonly records: readonly DnsRecord[]
  readonly differences: readonly DnsDifference[]
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
  findCertificate: ((host: string) => Promise<CertificateStanding>) | undefined
}): DomainChecks {
  const { store, clock, resolver, policy } = deps
  const addressesOfService = serviceAddresses(deps.target, resolver, clock)
  const looks = new Shares(LOOKS_MAX)
  let isCancelled = false

  const proofOf = (domain: Domain) => proofText(deps.proofKey, domain.workspace_id, domain.host)

  async function look(domain: Domain): Promise<Look> {
    const { host } = domain
    if (isProvedWithoutDns(host, policy)) {
      return { verdict: 'proved', observation: undefined, records: [], differences: [] }
    }
    const [observation, addresses] = await Promise.all([
      observeDns(resolver, host, clock),
      addressesOfService(),
    ])
    const proof = proofOf(domain)
    const ownership = judgeOwnership(observation, proof)
    const routing = judgeRouting(observation, addresses)
    const needsProof = policy === 'dns'
    const records = recordsFor(host, needsProof ? proof : undefined, deps.target, addresses)
    return {
      verdict: verdictOf(policy, ownership, routing),
      observation,
      records,
      differences: [
        ...(needsProof ? adviseOnOwnership(host, ownership, records) : []),
        ...adviseOnRouting(host, routing, records),
      ],
    }
  }

  /** Whether the proof of the claim that is active now is surely no more among the texts. */
  function hasLostProof(holder: Domain, { observation }: Look): boolean {
    if (policy !== 'dns' || observation === undefined || observation.texts.kind === 'unknown')
      return false
    const expected = proofOf(holder)
    return !valuesOf(observation.texts).some((text) => isSameProof(text, expected))
  }

  /**
   * Writes down what a check showed, in one unit with what follows from it; nothing when the lease
   * was lost, or the claim has been renamed or deleted, while DNS was asked.
   */
  async function conclude(lease: LeasedCheck, seen: Look): Promise<DomainMove | undefined> {
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
      if (!(await stores.domainChecks.finish(id, lease.fence, schedule, now))) return undefined
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
      return holder && { host, fromWorkspaceId: holder.workspace_id, toWorkspaceId: workspace_id }
    })
  }

  async function deactivate(stores: Nouns, domain: Domain, now: number): Promise<void> {
    await stores.domains.deactivate(domain.id, domain.host, now)
    await stores.changes.append(hostChange(domain.host), now)
  }

  async function check(lease: LeasedCheck): Promise<Look> {
    const seen = await look(lease.domain)
    if (isCancelled) {
      await store.write((stores) => stores.domainChecks.release(lease.domain.id, lease.fence))
      return seen
    }
    try {
      const move = await conclude(lease, seen)
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

  async function present(before: Domain, seen: Look): Promise<DnsReport> {
    const { workspace_id, id, host } = before
    const domain = (await store.read.domains.findById(workspace_id, id)) ?? before
    const times = await store.read.domainChecks.find(id)
    const isHeldBack =
      seen.verdict === 'proved' &&
      domain.status === 'pending' &&
      (await store.read.domains.findActive(host)) !== undefined
    const shown = (values: readonly string[]) => values.slice(0, SHOWN_MAX)
    const { observation } = seen
    return {
      domain,
      policy,
      verdict: seen.verdict,
      records: seen.records,
      seen: {
        txt: observation ? shown(valuesOf(observation.texts)) : [],
        cname: observation ? shown(observation.aliases.targets) : [],
        a: observation ? shown(valuesOf(observation.ipv4)) : [],
        aaaa: observation ? shown(valuesOf(observation.ipv6)) : [],
      },
      differences: isHeldBack ? [...seen.differences, activeElsewhere(host)] : seen.differences,
      checkedAt: times?.checked_at ?? null,
      nextCheckAt: times?.next_at ?? null,
      certificate:
        domain.status === 'active' ? ((await deps.findCertificate?.(host)) ?? null) : null,
    }
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
      return within(workspaceId, async () => present(domain, await look(domain)))
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
        return present(lease.domain, seen)
      })
    },

    cancel() {
      isCancelled = true
      resolver.cancel()
    },
  }
}
