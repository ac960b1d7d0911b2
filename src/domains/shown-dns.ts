import { isPrivateAddress, specialUseOf } from '../hosts/index.ts'
import { valuesOf } from '../platform/dns/dns-resolver.ts'
import type { Routing } from './dns-judgement.ts'
import type { DnsObservation } from './dns-observation.ts'
import type { ServiceAddresses } from './service-target.ts'

/** More of a record set, which may hold hundreds, is not shown. */
const SHOWN_MAX = 20

/** What a report shows of what DNS says. */
export type ShownDns = {
  readonly txt: readonly string[]
  readonly cname: readonly string[]
  readonly a: readonly string[]
  readonly aaaa: readonly string[]
}

/**
 * What a workspace may see. A name that it claims, or the alias that it sets, may lead into the
 * operator's own network, where this resolver knows more than public DNS: private addresses are not
 * shown, nor the aliases behind the host's own one on the way there, nor texts that an alias leads to.
 */
export function shownDns(seen: DnsObservation, service: ServiceAddresses): ShownDns {
  const { targets } = seen.aliases
  const leaves = targets.some((target) => specialUseOf(target) !== undefined)
  const addresses = (values: readonly string[]) =>
    values.filter(
      (address) => !isConcealed(address, service) && (!leaves || isOurs(address, service)),
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

/** The same route with words in the place of private addresses. */
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
      return { ...routing, strangers: inWords(routing.strangers) }
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
