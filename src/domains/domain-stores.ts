import type { KeyspaceStore } from '../hosts/index.ts'
import type { QuotaStores } from '../identity/index.ts'
import type { ChangeLog } from '../platform/changes/change-log.ts'
import type { EventWriter } from '../platform/events/event-writer.ts'
import type { IdempotencyStores } from '../platform/idempotency/once.ts'
import type { DomainCheckStore } from './store/domain-check-store.ts'
import type { DomainStore } from './store/domain-store.ts'
import type { HstsStore } from './store/hsts-store.ts'

/** What a new claim is written to. */
export type ClaimStores = {
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly keyspaces: KeyspaceStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** What claims are read from and written to. */
export type DomainStores = ClaimStores &
  QuotaStores &
  IdempotencyStores & { readonly hsts: HstsStore }

/** What checks of claims are read from and written to. */
export type CheckStores = {
  readonly domains: DomainStore
  readonly domainChecks: DomainCheckStore
  readonly changes: ChangeLog
  readonly events: EventWriter
}

/** What lets a failed order of a host's certificate be tried at once. */
export type RetriedOrders = {
  readonly certificateOrders: { makeDue(host: string, now: number): Promise<void> }
}
