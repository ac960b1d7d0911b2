import { type DnsFailureReason, type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import { isIpAddress, Networks } from '../platform/network/ip-address.ts'
import type { Clock } from '../platform/time/clock.ts'

/** Where the domains of this service must lead, as its operator says. */
export type ServiceTarget = {
  /** The name for aliases; undefined where the service has none in public DNS. */
  readonly host: string | undefined
  /** Addresses and CIDR networks; those of `host` in DNS when there are none. */
  readonly addresses: readonly string[]
}

/** The addresses that lead to this service. */
export type ServiceAddresses =
  | {
      readonly kind: 'known'
      readonly networks: Networks
      /** Those that a record can hold. */
      readonly single: readonly string[]
    }
  /** DNS does not say what they are: its fault or the operator's, never that of a domain. */
  | { readonly kind: 'unknown'; readonly reason: DnsFailureReason | 'none' }

const KEEP_MICROS = 60_000_000

/** Tells the service's addresses, and asks DNS for them once a minute at most. */
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
  let kept: { readonly at: number; readonly addresses: Promise<ServiceAddresses> } | undefined

  return () => {
    const now = clock.nowMicros()
    if (kept === undefined || Math.abs(now - kept.at) >= KEEP_MICROS) {
      kept = { at: now, addresses: lookUp(host, resolver) }
    }
    return kept.addresses
  }
}

async function lookUp(host: string, resolver: DnsResolver): Promise<ServiceAddresses> {
  const answers = await Promise.all([resolver.ipv4(host), resolver.ipv6(host)])
  // Half of the addresses would make the other half look like somebody else's.
  for (const answer of answers) {
    if (answer.kind === 'unknown') return answer
  }
  const found = answers.flatMap(valuesOf)
  return found.length === 0 ? { kind: 'unknown', reason: 'none' } : knownAddresses(found)
}

function knownAddresses(addresses: readonly string[]): ServiceAddresses {
  const networks = new Networks()
  for (const address of addresses) networks.add(address)
  return { kind: 'known', networks, single: addresses.filter(isIpAddress) }
}
