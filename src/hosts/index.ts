/** The exports for other modules. Loads no store, because the redirects load this file. */
export type { ClaimableHosts, ServiceHost, ServiceName } from './claimable-hosts.ts'
export { hostThatCouldLoop, parseDestination } from './destination.ts'
export { displayHost, formatHost, parseHost, specialUseOf } from './host.ts'
export { findProxy } from './known-proxies.ts'
export type { KeyspaceStore } from './store/keyspace-store.ts'
