import { type DnsFailureReason, type DnsResolver, valuesOf } from '../platform/dns/dns-resolver.ts'
import { isIpAddress, Networks } from '../platform/network/ip-address.ts'
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
  const networks = new Networks()
  for (const address of addresses) networks.add(address)
  return { kind: 'known', networks, single: addresses.filter(isIpAddress) }
}
