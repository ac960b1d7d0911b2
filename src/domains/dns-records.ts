import { createHmac } from 'node:crypto'
import { getDomain } from 'tldts'
import { type DnsFailureReason, type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import { isIpAddress, type Networks, networksOf } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'

/** The configured target to which domains must lead. */
export type ServiceTarget = {
  /** The name for aliases; undefined when the service has no name in public DNS. */
  readonly host: string | undefined
  /** Addresses and CIDR networks; when empty, the addresses of `host` in DNS count. */
  readonly addresses: readonly string[]
}

/** The addresses that lead to this service. */
export type ServiceAddresses =
  | {
      readonly kind: 'known'
      readonly networks: Networks
      /** The single addresses among them, which an A or AAAA record can hold. */
      readonly single: readonly string[]
    }
  /** DNS did not answer, or the configuration has no target: no fault of a domain. */
  | { readonly kind: 'unknown'; readonly reason: DnsFailureReason | 'none' }

const CACHE_MICROS = 60_000_000

/** Returns a function that returns the service's addresses, and looks them up at most once a minute. */
export function serviceAddresses(
  target: ServiceTarget,
  resolver: DnsResolver,
  clock: Clock,
): () => Promise<ServiceAddresses> {
  if (target.addresses.length > 0) {
    const known = knownAddresses(target.addresses)
    return async () => known
  }
  const { host } = target
  if (host === undefined) return async () => ({ kind: 'unknown', reason: 'none' })
  let cached: { readonly at: number; readonly addresses: Promise<ServiceAddresses> } | undefined

  return () => {
    const now = clock.nowMicros()
    if (cached === undefined || Math.abs(now - cached.at) >= CACHE_MICROS) {
      cached = { at: now, addresses: lookUp(host, resolver) }
    }
    return cached.addresses
  }
}

async function lookUp(host: string, resolver: DnsResolver): Promise<ServiceAddresses> {
  const answers = await Promise.all([resolver.ipv4(host), resolver.ipv6(host)])
  // If one of the two look-ups fails, its addresses would appear not to belong to this service.
  for (const answer of answers) {
    if (answer.kind === 'unknown') return answer
  }
  const found = answers.flatMap(valuesOf)
  return found.length === 0 ? { kind: 'unknown', reason: 'none' } : knownAddresses(found)
}

function knownAddresses(addresses: readonly string[]): ServiceAddresses {
  return { kind: 'known', networks: networksOf(addresses), single: addresses.filter(isIpAddress) }
}

/**
 * What an operator requires before a domain becomes active. `dns`: the workspace's TXT record is set and
 * the domain leads to this service; `routing`: it leads to this service; `none`: nothing.
 */
export type ProofPolicy = 'dns' | 'routing' | 'none'

const TEXT_PREFIX = 'terse-verify='
const NAME_PREFIX = '_terse.'
/** 160 bits cannot be guessed, and the text still fits on one line of a form. */
const CODE_BYTES = 20

/**
 * Whether a claim is proved without DNS queries: under the policy `none`, and for `*.localhost`, which
 * always leads to the machine itself (RFC 6761, section 6.3), so that new users can try a domain.
 */
export function isProvedWithoutDns(host: string, policy: ProofPolicy): boolean {
  return policy === 'none' || host.endsWith('.localhost')
}

/** Returns the name of the TXT record that proves a host. */
export function proofName(host: string): string {
  return NAME_PREFIX + host
}

/**
 * Returns the text that proves a workspace's claim on a host. It differs for every workspace and host, so
 * a record that others copy, or that a wildcard repeats below the host, proves nothing else.
 *
 * @param key derived from the instance's key, for `domain-proof`
 */
export function proofText(key: Buffer, workspaceId: string, host: string): string {
  const code = createHmac('sha256', key).update(`${workspaceId}\n${host}`).digest()
  return TEXT_PREFIX + code.subarray(0, CODE_BYTES).toString('hex')
}

/** Whether a text has the form of a proof, perhaps for another workspace or host. */
export function isProofText(text: string): boolean {
  return plain(text).startsWith(TEXT_PREFIX)
}

/** Compares proofs; ignores quotes and spaces, which some DNS panels keep. */
export function isSameProof(text: string, expected: string): boolean {
  return plain(text) === expected
}

function plain(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1')
}

/** The maximum number of address records in the instructions: one is enough, and long lists confuse. */
const ADDRESSES_MAX = 8

/** A record that the owner sets at the provider of the domain's DNS. */
export type DnsRecord = {
  readonly purpose: 'ownership' | 'routing'
  readonly type: 'TXT' | 'CNAME' | 'A' | 'AAAA'
  /** As most DNS panels expect it: relative to the registered domain; `@` for that domain itself. */
  readonly name: string
  /** The full name, for panels that expect it. */
  readonly full_name: string
  readonly value: string
}

/** Returns the registered domain, which DNS panels take as the zone. */
function zoneOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host
}

/** Whether the host is the registered domain itself, where DNS allows no alias (RFC 1034, section 3.6.2). */
function isApex(host: string): boolean {
  return zoneOf(host) === host
}

/** Returns the records that route a host to this service and, with `proof`, prove its ownership. */
export function recordsFor(
  host: string,
  proof: string | undefined,
  target: ServiceTarget,
  addresses: ServiceAddresses,
): readonly DnsRecord[] {
  const record = (
    purpose: DnsRecord['purpose'],
    type: DnsRecord['type'],
    fullName: string,
    value: string,
  ): DnsRecord => ({
    purpose,
    type,
    name: panelName(fullName, zoneOf(host)),
    full_name: fullName,
    value,
  })
  const ownership = proof === undefined ? [] : [record('ownership', 'TXT', proofName(host), proof)]
  if (target.host !== undefined && !isApex(host)) {
    return [...ownership, record('routing', 'CNAME', host, target.host)]
  }
  const single = addresses.kind === 'known' ? addresses.single.slice(0, ADDRESSES_MAX) : []
  const routing = single.map((address) =>
    record('routing', address.includes(':') ? 'AAAA' : 'A', host, address),
  )
  return [...ownership, ...routing]
}

function panelName(fullName: string, zone: string): string {
  return fullName === zone ? '@' : fullName.slice(0, -zone.length - 1)
}
