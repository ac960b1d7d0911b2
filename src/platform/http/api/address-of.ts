import type { IncomingMessage } from 'node:http'
import { clientAddress, type Networks } from '../../network/ip-address.ts'

/** The address of the client that sent a request. */
export function addressOf({ headers, socket }: IncomingMessage, trustedProxies: Networks): string {
  const forwardedFor = headers['x-forwarded-for']
  const header = Array.isArray(forwardedFor) ? forwardedFor.join(',') : forwardedFor
  return clientAddress(socket.remoteAddress ?? '', header, trustedProxies)
}
