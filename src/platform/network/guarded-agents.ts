import { type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { type AddressGuard, checkedLookup, RefusedAddressError } from '../dns/checked-lookup.ts'
import { isIpAddress } from './ip-address.ts'

/** Through which `node:http` and `node:https` connect. */
export type Agents = { readonly http: HttpAgent; readonly https: HttpsAgent }

type Connected = (error: Error | null, stream: Duplex) => void

/** Returns agents that keep connections open and connect only to addresses that the guard allows. */
export function guardedAgents(guard: AddressGuard): Agents {
  const options = { keepAlive: true, lookup: checkedLookup(guard) }
  const http = new HttpAgent(options)
  const https = new HttpsAgent(options)
  for (const agent of [http, https]) refuseAddresses(agent, guard)
  return { http, https }
}

/** Closes their connections; requests in progress fail. */
export function closeAgents({ http, https }: Agents): void {
  http.destroy()
  https.destroy()
}

/** Checks hosts that are IP addresses, for which Node.js resolves nothing. */
function refuseAddresses(agent: HttpAgent, guard: AddressGuard): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options: ClientRequestArgs, callback?: Connected) => {
    const host = options.host ?? ''
    if (!isIpAddress(host) || guard(host)) return connect(options, callback)
    callback?.(new RefusedAddressError(host), undefined as unknown as Duplex)
    return null
  }
}
