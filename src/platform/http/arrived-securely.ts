import type { Networks } from '../network/ip-address.ts'

/** How a request reached this process. */
export type Arrival = {
  /** Whether the connection to this process uses TLS. */
  readonly isEncrypted: boolean
  /** Of the socket, not from a header. */
  readonly remoteAddress: string
}

/** Whether a request arrived over TLS, here or at a trusted proxy that says so. */
export function arrivedSecurely(
  { isEncrypted, remoteAddress }: Arrival,
  forwardedProto: string | readonly string[] | undefined,
  trusted: Networks,
): boolean {
  return isEncrypted || (forwardedProto === 'https' && trusted.has(remoteAddress))
}
