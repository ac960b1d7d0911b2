/** What other modules use of identity. */

export { type Actor, commandLine, systemActor } from './actor.ts'
export {
  type AuthenticationDependencies,
  actorOf,
  mayStill,
} from './authentication.ts'
export { findActor, type MakerStores } from './grants.ts'
export { requirePermission, requireRecentAuthentication } from './permissions.ts'
export type { QuotaBook } from './quotas/quota-book.ts'
export {
  enforceQuotas,
  type Growth,
  type QuotaStores,
  type WorkspaceLimits,
} from './quotas/quota-book.ts'
export type { ErasureStore } from './store/erasure-store.ts'
export type { MembershipStore, ShownMember } from './store/membership-store.ts'
export type { Workspaces } from './workspaces/workspaces.ts'
