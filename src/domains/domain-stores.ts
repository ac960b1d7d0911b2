import type { KeyspaceStore } from '../hosts/index.ts'
import type { QuotaStores } from '../identity/index.ts'
import type { ChangeLog } from '../storage/changes.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { IdempotencyStores } from '../storage/idempotency.ts'
import type { DomainCheckStore } from './store/domain-check-store.ts'
import type { DomainStore } from './store/domain-store.ts'
import type { HstsStore } from './store/hsts-store.ts'

/** The stores to which a new claim is written. */
export type ClaimStores = {
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly keyspaces: KeyspaceStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** The stores that the operations on domains use. */
export type DomainStores = ClaimStores &
  QuotaStores &
  IdempotencyStores & { readonly hsts: HstsStore }

/** The stores that domain checks use. */
export type CheckStores = {
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** The part of the certificate order store that retries a host's failed order at once. */
export type RetriedOrders = {
  readonly certificateOrders: { makeDue(host: string, now: number): Promise<void> }
}
