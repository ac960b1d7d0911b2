import { getDomain } from 'tldts'
import { proofName } from './proof.ts'
import type { ServiceAddresses, ServiceTarget } from './service-target.ts'

/** More addresses than these would be a form nobody fills in. */
const ADDRESSES_MAX = 8

/** A record to set at the company that keeps the domain's DNS. */
export type DnsRecord = {
  readonly purpose: 'ownership' | 'routing'
  readonly type: 'TXT' | 'CNAME' | 'A' | 'AAAA'
  /** As most DNS panels want it: without the registered name; `@` for that name itself. */
  readonly name: string
  /** The whole name, for panels that want that. */
  readonly full_name: string
  readonly value: string
}

/** The name that was registered, under which a panel keeps its records. */
function zoneOf(host: string): string {
  return getDomain(host, { allowPrivateDomains: true }) ?? host
}

/** Whether the host is the registered name itself, where DNS allows no alias (RFC 1034, section 3.6.2). */
function isApex(host: string): boolean {
  return zoneOf(host) === host
}

/** The records that make a host lead here and, with `proof`, prove whose it is. */
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
