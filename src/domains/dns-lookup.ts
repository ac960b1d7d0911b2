import { type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { adviseOnOwnership, adviseOnRouting, type DnsDifference } from './dns-advice.ts'
import { judgeOwnership, judgeRouting, type Verdict, verdictOf } from './dns-judgement.ts'
import { type DnsObservation, observeDns } from './dns-observation.ts'
import { type DnsRecord, recordsFor } from './dns-records.ts'
import type { Domain } from './domain.ts'
import { isProvedWithoutDns, isSameProof, type ProofPolicy, proofText } from './proof.ts'
import { type ServiceAddresses, type ServiceTarget, serviceAddresses } from './service-target.ts'
import { type ShownDns, shownDns, shownRouting } from './shown-dns.ts'

const EMPTY: ShownDns = { txt: [], cname: [], a: [], aaaa: [] }

/** The result of looking up the records of a domain. */
export type DnsLookup = {
  readonly verdict: Verdict
  /** The policy that was applied. */
  readonly policy: ProofPolicy
  /** Undefined when no DNS query was needed. */
  readonly observation: DnsObservation | undefined
  /** The part of the observation that the workspace may see. */
  readonly seen: ShownDns
  readonly records: readonly DnsRecord[]
  readonly differences: readonly DnsDifference[]
}

type LookupOptions = {
  readonly clock: Clock
  readonly resolver: DnsResolver
  readonly policy: ProofPolicy
  /** Derived from the instance's key, for `domain-proof`. */
  readonly proofKey: Buffer
  readonly target: ServiceTarget
  /** Whether a host needs the TXT record even under the policy `routing`. */
  readonly isReserved: (host: string) => boolean
}

/** Looks up domains in DNS and judges what is found. Changes nothing. */
export class DnsLookups {
  readonly #options: LookupOptions
  readonly #serviceAddresses: () => Promise<ServiceAddresses>

  constructor(options: LookupOptions) {
    this.#options = options
    this.#serviceAddresses = serviceAddresses(options.target, options.resolver, options.clock)
  }

  /** Never throws because of DNS: without an answer, the verdict is `unknown`. */
  async lookUp(domain: Domain): Promise<DnsLookup> {
    const { resolver, clock, target } = this.#options
    const { host } = domain
    const policy = this.#policyFor(domain)
    if (isProvedWithoutDns(host, policy)) {
      const nothing = { observation: undefined, seen: EMPTY, records: [], differences: [] }
      return { verdict: 'proved', policy, ...nothing }
    }
    const [observation, addresses] = await Promise.all([
      observeDns(resolver, host, clock),
      this.#serviceAddresses(),
    ])
    const proof = this.#proofOf(domain)
    const ownership = judgeOwnership(observation, proof)
    const routing = judgeRouting(observation, addresses)
    const needsProof = policy === 'dns'
    const records = recordsFor(host, needsProof ? proof : undefined, target, addresses)
    return {
      verdict: verdictOf(policy, ownership, routing),
      policy,
      observation,
      seen: shownDns(observation, addresses),
      records,
      differences: [
        ...(needsProof ? adviseOnOwnership(host, ownership, records) : []),
        ...adviseOnRouting(host, shownRouting(routing, addresses), records),
      ],
    }
  }

  /**
   * Whether a look-up of its host shows that the active domain's proof has been removed. False when no
   * proof is required, or when DNS did not answer.
   */
  hasLostProof(active: Domain, { observation }: DnsLookup): boolean {
    if (this.#options.policy !== 'dns' || observation === undefined) return false
    if (observation.texts.kind === 'unknown') return false
    const expected = this.#proofOf(active)
    return !valuesOf(observation.texts).some((text) => isSameProof(text, expected))
  }

  #proofOf({ workspace_id, host }: Domain): string {
    return proofText(this.#options.proofKey, workspace_id, host)
  }

  /**
   * A reserved name often leads to the service by a wildcard record, so routing does not show which
   * workspace it belongs to.
   */
  #policyFor({ host, status }: Domain): ProofPolicy {
    const { policy, isReserved } = this.#options
    const isRouteEnough = status === 'active' || !isReserved(host)
    return policy === 'routing' && !isRouteEnough ? 'dns' : policy
  }
}
