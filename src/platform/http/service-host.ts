import { isIpAddress } from '../network/ip-address.ts'

/**
 * Whether a request's host belongs to the service itself: the host of its base URL, and any IP address,
 * because no workspace can claim one and monitors use it.
 */
export function isServiceHost(host: string, serviceHost: string): boolean {
  return host === serviceHost || isIpAddress(host) || host.startsWith('[')
}
