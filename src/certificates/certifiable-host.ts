import { isIpAddress } from '../platform/network/ip-address.ts'

/** Names of which no certificate authority can see who is in charge (RFC 6761, RFC 6762). */
const LOCAL = /(?:^|\.)(?:localhost|local)$/

/** Whether a certificate authority could issue for a host at all. */
export function isCertifiable(host: string): boolean {
  return host.includes('.') && !LOCAL.test(host) && !isIpAddress(host)
}
