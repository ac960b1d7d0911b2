/** The exports for other modules. Loads no store, because the redirects load this file. */
export type { ClaimableHosts } from './claimable-hosts.ts'
export { hostThatCouldLoop, parseDestination } from './destination.ts'
export { displayHost, formatHost, parseHost, specialUseOf } from './host.ts'
export { findProxy } from './known-proxies.ts'
export { isPrivateAddress } from './private-networks.ts'
export type { ServiceHost, ServiceName } from './service-host.ts'
export type { KeyspaceStore } from './store/keyspace-store.ts'
