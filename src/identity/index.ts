/** What other modules use of identity. */

export { type Actor, commandLine, systemActor } from './actor.ts'
export { type CallApi, CallRefused, callsAs, type Query, type Refusal } from './api-calls.ts'
export {
  type AuthenticationDependencies,
  actorOf,
  bearerOf,
  callerOf,
  mayStill,
  signedInOf,
} from './authentication.ts'
export { type ActingStores, findActor, type MakerStores, requireActor } from './grants.ts'
export {
  ASSISTANT_PERMISSIONS,
  COMPAT_PERMISSIONS,
  type Permission,
  requirePermission,
  requireRecentAuthentication,
} from './permissions.ts'
export type { QuotaBook } from './quotas/quota-book.ts'
export {
  enforceQuotas,
  type Growth,
  type QuotaStores,
  type WorkspaceLimits,
} from './quotas/quota-book.ts'
export type { CompatStore } from './store/compat-store.ts'
export type { ErasureStore } from './store/erasure-store.ts'
export type { MembershipStore, ShownMember } from './store/membership-store.ts'
export { type Authenticator, hashSecret, type SecretSealing, switchCompat } from './tokens.ts'
export type { Workspaces } from './workspaces/workspaces.ts'
