import { isPrivateAddress, specialUseOf } from '../hosts/index.ts'
import { valuesOf } from '../platform/dns/dns-resolver.ts'
import type { Routing } from './dns-judgement.ts'
import type { DnsObservation } from './dns-observation.ts'
import type { ServiceAddresses } from './service-target.ts'

/** The maximum number of records shown of a record set, which may have hundreds. */
const SHOWN_MAX = 20

/** The DNS records in a report. */
export type ShownDns = {
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
export function shownDns(seen: DnsObservation, service: ServiceAddresses): ShownDns {
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
export function shownRouting(routing: Routing, service: ServiceAddresses): Routing {
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
