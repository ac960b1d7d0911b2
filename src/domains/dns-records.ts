import { getDomain } from 'tldts'
import { proofName } from './proof.ts'
import type { ServiceAddresses, ServiceTarget } from './service-target.ts'

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
