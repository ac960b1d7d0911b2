import { type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import type { Clock } from '../platform/time/clock.ts'
import { adviseOnOwnership, adviseOnRouting, type DnsDifference } from './dns-advice.ts'
import { judgeOwnership, judgeRouting, type Verdict, verdictOf } from './dns-judgement.ts'
import { type DnsObservation, observeDns } from './dns-observation.ts'
import { type DnsRecord, recordsFor } from './dns-records.ts'
import type { Domain } from './domain.ts'
import { isProvedWithoutDns, isSameProof, type ProofPolicy, proofText } from './proof.ts'
import { type ServiceTarget, serviceAddresses } from './service-target.ts'
import { type ShownDns, shownDns, shownRouting } from './shown-dns.ts'

const NOTHING: ShownDns = { txt: [], cname: [], a: [], aaaa: [] }

/** What a look at DNS showed of a claim. */
export type DnsLook = {
  readonly verdict: Verdict
  /** What had to be proved. */
  readonly policy: ProofPolicy
  /** Undefined where DNS was not asked. */
  readonly observation: DnsObservation | undefined
  /** What the workspace may see of it. */
  readonly seen: ShownDns
  readonly records: readonly DnsRecord[]
  readonly differences: readonly DnsDifference[]
}

/** Looks at DNS, and changes nothing. */
export type DnsLooks = {
  /** What DNS says of a claim, and what that means under the policy. */
  look(domain: Domain): Promise<DnsLook>
  /**
   * Whether a look at its host shows that the proof of the claim that is active now is surely no more
   * among the texts.
   */
  hasLostProof(holder: Domain, seen: DnsLook): boolean
}

/** @param deps.proofKey from the instance's key, for `domain-proof` */
export function dnsLooks(deps: {
  clock: Clock
  resolver: DnsResolver
  policy: ProofPolicy
  proofKey: Buffer
  target: ServiceTarget
  /** Whether the route alone does not make a host active, under any policy. */
  isReserved: (host: string) => boolean
}): DnsLooks {
  const { clock, resolver } = deps
  const addressesOfService = serviceAddresses(deps.target, resolver, clock)
  const proofOf = (domain: Domain) => proofText(deps.proofKey, domain.workspace_id, domain.host)

  /** A reserved name leads here by itself, often by a wildcard record: its owner has to say whose it is. */
  function policyFor({ host, status }: Domain): ProofPolicy {
    const isRouteEnough = status === 'active' || !deps.isReserved(host)
    return deps.policy === 'routing' && !isRouteEnough ? 'dns' : deps.policy
  }

  return {
    async look(domain) {
      const { host } = domain
      const policy = policyFor(domain)
      if (isProvedWithoutDns(host, policy)) {
        const nothing = { observation: undefined, seen: NOTHING, records: [], differences: [] }
        return { verdict: 'proved', policy, ...nothing }
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
        policy,
        observation,
        seen: shownDns(observation, addresses),
        records,
        differences: [
          ...(needsProof ? adviseOnOwnership(host, ownership, records) : []),
          ...adviseOnRouting(host, shownRouting(routing, addresses), records),
        ],
      }
    },

    hasLostProof(holder, { observation }) {
      if (
        deps.policy !== 'dns' ||
        observation === undefined ||
        observation.texts.kind === 'unknown'
      )
        return false
      const expected = proofOf(holder)
      return !valuesOf(observation.texts).some((text) => isSameProof(text, expected))
    },
  }
}
