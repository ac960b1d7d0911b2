import type { Store } from '../platform/database/store.ts'
import { activeElsewhere, type DnsDifference } from './dns-advice.ts'
import type { Verdict } from './dns-judgement.ts'
import type { DnsLook } from './dns-look.ts'
import type { DnsRecord } from './dns-records.ts'
import type { Domain } from './domain.ts'
import type { CheckStores } from './domain-stores.ts'
import type { CertificateStanding } from './host-certificate.ts'
import type { ProofPolicy } from './proof.ts'
import type { ShownDns } from './shown-dns.ts'

/** What DNS should say of a domain, and what it says now. */
export type DnsReport = {
  readonly domain: Domain
  readonly policy: ProofPolicy
  readonly verdict: Verdict
  readonly records: readonly DnsRecord[]
  readonly seen: ShownDns
  readonly differences: readonly DnsDifference[]
  /** When the status was last checked, and when it will be. Microseconds since the epoch. */
  readonly checkedAt: number | null
  readonly nextCheckAt: number | null
  /** Null where the domain is not active, no authority issues one for it, or a proxy does HTTPS. */
  readonly certificate: CertificateStanding | null
}

/** Returns how the certificate of a host stands; undefined where no authority issues one for it. */
export type CertificateFinder = (host: string) => Promise<CertificateStanding | undefined>

/**
 * What a look showed, beside what the store says of the claim by now.
 *
 * @param deps.findCertificate undefined where certificates are somebody else's work
 */
export async function reportLook(
  deps: {
    store: Store<Pick<CheckStores, 'domains' | 'domainChecks'>>
    findCertificate: CertificateFinder | undefined
  },
  before: Domain,
  seen: DnsLook,
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
    certificate: domain.status === 'active' ? ((await deps.findCertificate?.(host)) ?? null) : null,
  }
}
