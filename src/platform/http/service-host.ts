import { isIpAddress } from '../network/ip-address.ts'

/**
 * Whether a request's host is the service's own: the host of its base address, and any bare address,
 * because no workspace can claim one and monitors ask for it.
 */
export function isServiceHost(host: string, serviceHost: string): boolean {
  return host === serviceHost || isIpAddress(host) || host.startsWith('[')
}
