/** What other modules use of identity. */

export {
  type AuthenticationDependencies,
  actorOf,
  mayStill,
} from './access/authentication.ts'
export { type Actor, commandLine, systemActor } from './actor.ts'
export type { ErasureStore } from './erasures/store/erasure-store.ts'
export { findActor, type MakerStores } from './grants/find-actor.ts'
export type { ShownMember } from './members/membership.ts'
export type { MembershipStore } from './members/store/membership-store.ts'
export { requirePermission, requireRecentAuthentication } from './permissions.ts'
export type { QuotaBook } from './quotas/quota-book.ts'
export {
  enforceQuotas,
  type Growth,
  type QuotaStores,
  type WorkspaceLimits,
} from './quotas/quota-book.ts'
export type { Workspaces } from './workspaces/workspaces.ts'
