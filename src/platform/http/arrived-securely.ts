import type { Networks } from '../network/ip-address.ts'

/** How a request came here. */
export type Arrival = {
  /** Whether the connection itself is. */
  readonly isEncrypted: boolean
  /** The socket's own. */
  readonly remoteAddress: string
}

/** Whether nobody could read a request on its way, as far as this service and the proxies it trusts know. */
export function arrivedSecurely(
  { isEncrypted, remoteAddress }: Arrival,
  forwardedProto: string | readonly string[] | undefined,
  trusted: Networks,
): boolean {
  return isEncrypted || (forwardedProto === 'https' && trusted.has(remoteAddress))
}
