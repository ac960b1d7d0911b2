import type { Fault } from '@terse/contract/faults'
import { getDomain } from 'tldts'
import { isIpAddress } from '../platform/network/ip-address.ts'
import { specialUseOf } from './host.ts'

/** Which syntactically valid hosts workspaces may claim. */
export type ClaimableHosts = {
  /** Returns why the claim is refused, or undefined when the host may be claimed. */
  faultOf(host: string): Fault | undefined
  /** Whether only the operator may add the host, and ownership must be proved by a TXT record. */
  isReserved(host: string): boolean
}

/**
 * @param options.serviceNames the host names of the service itself
 * @param options.reserved reserved names; all names below them are reserved too
 * @param options.isOperator whether the claimant may claim reserved names
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
      // A service whose own name is special-use serves the network in which such names resolve.
      if (suffix !== undefined && !serviceNames.some((name) => specialUseOf(name) === suffix)) {
        return { code: 'special_use', suffix }
      }
      return isReserved(host) && !isOperator ? { code: 'reserved', reason: 'domain' } : undefined
    },
  }
}

/**
 * Returns the registered domains of the service's names. With a wildcard DNS record, each name
 * below them leads to the service. Local names and addresses have no registered domain.
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

/** The host of the service itself: an active domain that all workspaces share. */
export type ServiceHost = ServiceName & { readonly keyspaceId: number }

/** The host name and ports of the service. */
export type ServiceName = {
  /** Lower-case, in A-label form, without port. */
  readonly host: string
  /** The ports on which this service can be reached. */
  readonly ports: ReadonlySet<number>
}
