import type { IncomingMessage } from 'node:http'
import { clientAddress, type Networks } from '../network/ip-address.ts'

/** How a request reached this process. */
export type Arrival = {
  /** Whether the connection to this process uses TLS. */
  readonly isEncrypted: boolean
  /** The address of the socket, not one from a header. */
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

/** The address of the client that sent a request. */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: Networks): string {
  const forwardedFor = headers['x-forwarded-for']
  const header = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor
  return clientAddress(socket.remoteAddress ?? '', header, trustedProxies)
}
