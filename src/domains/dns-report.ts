import type { Store } from '../storage/store.ts'
import { activeElsewhere, type DnsDifference } from './dns-advice.ts'
import type { Verdict } from './dns-judgement.ts'
import type { DnsLookup } from './dns-lookup.ts'
import type { DnsRecord } from './dns-records.ts'
import type { Domain } from './domain.ts'
import type { CheckStores } from './domain-stores.ts'
import type { CertificateStanding } from './host-certificate.ts'
import type { ProofPolicy } from './proof.ts'
import type { ShownDns } from './shown-dns.ts'

/** The DNS records that a domain requires, and those that were found. */
export type DnsReport = {
  readonly domain: Domain
  readonly policy: ProofPolicy
  readonly verdict: Verdict
  readonly records: readonly DnsRecord[]
  readonly seen: ShownDns
  readonly differences: readonly DnsDifference[]
  /** The times of the last and the next scheduled check, in microseconds since the epoch. */
  readonly checkedAt: number | null
  readonly nextCheckAt: number | null
  /** When the proof of an active domain was first missing; null while it is present. */
  readonly missingSince: number | null
  /** Null when the domain is not active, or this service obtains no certificate for it. */
  readonly certificate: CertificateStanding | null
}

/** Returns the state of a host's certificate; undefined when no authority issues one for the host. */
export type CertificateFinder = (host: string) => Promise<CertificateStanding | undefined>

/**
 * Combines a look-up with the current state of the domain in the store.
 *
 * @param deps.findCertificate undefined when this service obtains no certificates itself
 */
export async function reportLookup(
  deps: {
    store: Store<Pick<CheckStores, 'domains' | 'domainChecks'>>
    findCertificate: CertificateFinder | undefined
  },
  before: Domain,
  seen: DnsLookup,
): Promise<DnsReport> {
  const { store } = deps
  const { workspace_id, id, host } = before
  const domain = (await store.read.domains.findById(workspace_id, id)) ?? before
  const times = await store.read.domainChecks.find(id)
  const isHeldBack =
    seen.verdict === 'proved' &&
    domain.status === 'pending' &&
    (await store.read.domains.findActive(host)) !== undefined
  return {
    domain,
    policy: seen.policy,
    verdict: seen.verdict,
    records: seen.records,
    seen: seen.seen,
    differences: isHeldBack ? [...seen.differences, activeElsewhere(host)] : seen.differences,
    checkedAt: times?.checked_at ?? null,
    nextCheckAt: times?.next_at ?? null,
    missingSince: times?.missing_since ?? null,
    certificate: domain.status === 'active' ? ((await deps.findCertificate?.(host)) ?? null) : null,
  }
}
