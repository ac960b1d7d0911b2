import { specialUseOf } from '../hosts/index.ts'
import { type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import { isPrivateAddress } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import type { CheckStores } from './claim.ts'
import {
  activeElsewhere,
  adviseOnOwnership,
  adviseOnRouting,
  type DnsDifference,
} from './dns-advice.ts'
import {
  type DnsObservation,
  judgeOwnership,
  judgeRouting,
  observeDns,
  type Routing,
  type Verdict,
  verdictOf,
} from './dns-judgement.ts'
import {
  type DnsRecord,
  isProvedWithoutDns,
  isSameProof,
  type ProofPolicy,
  proofText,
  recordsFor,
  type ServiceAddresses,
  type ServiceTarget,
  serviceAddresses,
} from './dns-records.ts'
import type { CertificateStanding, Domain } from './domain.ts'

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

/** The maximum number of records shown of a record set, which may have hundreds. */
const SHOWN_MAX = 20

/** The DNS records in a report. */
type ShownDns = {
  readonly txt: readonly string[]
  readonly cname: readonly string[]
  readonly a: readonly string[]
  readonly aaaa: readonly string[]
}

/**
 * Returns the records that a workspace may see. A name or alias may lead into the operator's private
 * network, about which this service's resolver knows more than public DNS. So private addresses are
 * hidden, and with them all aliases but the host's own; texts behind an alias are hidden too.
 */
function shownDns(seen: DnsObservation, service: ServiceAddresses): ShownDns {
  const { targets } = seen.aliases
  const leavesPublicDns = targets.some((target) => specialUseOf(target) !== undefined)
  const addresses = (values: readonly string[]) =>
    values.filter(
      (address) => !isConcealed(address, service) && (!leavesPublicDns || isOurs(address, service)),
    )
  const [ipv4, ipv6] = [valuesOf(seen.ipv4), valuesOf(seen.ipv6)]
  const isInternal = [...ipv4, ...ipv6].some((address) => isConcealed(address, service))
  return {
    txt: valuesOf(seen.textAlias).length > 0 ? [] : valuesOf(seen.texts).slice(0, SHOWN_MAX),
    cname: targets.slice(0, isInternal ? 1 : SHOWN_MAX),
    a: addresses(ipv4).slice(0, SHOWN_MAX),
    aaaa: addresses(ipv6).slice(0, SHOWN_MAX),
  }
}

/** Returns the routing with words in place of private addresses. */
function shownRouting(routing: Routing, service: ServiceAddresses): Routing {
  const inWords = (addresses: readonly string[]) => [
    ...new Set(
      addresses.map((address) =>
        isConcealed(address, service)
          ? `a private ${address.includes(':') ? 'IPv6' : 'IPv4'} address`
          : address,
      ),
    ),
  ]
  switch (routing.state) {
    case 'routed':
      return { ...routing, otherAddresses: inWords(routing.otherAddresses) }
    case 'elsewhere':
      return { ...routing, addresses: inWords(routing.addresses) }
    default:
      return routing
  }
}

function isOurs(address: string, service: ServiceAddresses): boolean {
  return service.kind === 'known' && service.networks.has(address)
}

function isConcealed(address: string, service: ServiceAddresses): boolean {
  return isPrivateAddress(address) && !isOurs(address, service)
}

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
