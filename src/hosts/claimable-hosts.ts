import { getDomain } from 'tldts'
import { isIpAddress } from '../platform/network/ip-address.ts'
import { specialUseOf } from './host.ts'

/** Which hosts workspaces may claim, beside what is a host name at all. */
export type ClaimableHosts = {
  /** Why nobody may claim a host here, or no workspace by itself; undefined where it may be claimed. */
  faultOf(host: string): string | undefined
  /** Whether the operator alone may add a host, and its owner must prove it by a TXT record. */
  isReserved(host: string): boolean
}

/**
 * @param options.serviceNames under which the service itself is reached
 * @param options.reserved names that are reserved with all names below them
 * @param options.isOperator whether who claims may claim reserved names too
 */
export function claimableHosts(options: {
  serviceNames: readonly string[]
  reserved: readonly string[]
  isOperator: boolean
}): ClaimableHosts {
  const { serviceNames, reserved, isOperator } = options
  const isReserved = (host: string) => reserved.some((name) => isWithin(host, name))
  return {
    isReserved,
    faultOf(host) {
      const suffix = specialUseOf(host)
      // A service that is itself reached under such a name serves the network in which it means something.
      if (suffix !== undefined && !serviceNames.some((name) => specialUseOf(name) === suffix)) {
        return `is a name under .${suffix}, which public DNS does not have`
      }
      return isReserved(host) && !isOperator
        ? 'is reserved for the operator of this service, who alone can add it'
        : undefined
    },
  }
}

/**
 * The registered domains that the service's names belong to: with a wildcard record, each name below
 * them leads to the service. Names on this machine and addresses have none.
 */
export function registeredDomainsOf(serviceNames: readonly string[]): readonly string[] {
  const isPublic = (name: string) =>
    name.includes('.') && !isIpAddress(name) && !isWithin(name, 'localhost')
  const domains = serviceNames
    .filter(isPublic)
    .map((name) => getDomain(name, { allowPrivateDomains: true }) ?? name)
  return [...new Set(domains)]
}

function isWithin(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`)
}
