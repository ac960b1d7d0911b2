import { isIpAddress } from '../platform/network/ip-address.ts'

/** Names for which no certificate authority can validate control (RFC 6761, RFC 6762). */
const LOCAL = /(?:^|\.)(?:localhost|local)$/

/** Whether a public certificate authority could issue for a host. */
export function isCertifiable(host: string): boolean {
  return host.includes('.') && !LOCAL.test(host) && !isIpAddress(host)
}
