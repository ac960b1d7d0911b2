import type { KeyspaceStore } from '../hosts/index.ts'
import type { Actor, Growth, QuotaStores } from '../identity/index.ts'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ChangeLog, hostChange } from '../storage/changes.ts'
import type { EventWriter } from '../storage/event-log.ts'
import type { IdempotencyStores } from '../storage/idempotency.ts'
import { newSchedule } from './check-schedule.ts'
import { type Domain, domainCreated } from './domain.ts'
import type { DomainCheckStore } from './store/domain-check-store.ts'
import type { DomainStore, HstsStore } from './store/domain-store.ts'

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

/** What a new claim adds to the quotas of its workspace. */
export const NEW_CLAIM: Growth = { domains: 1, pending_domains: 1 }

/** Returns a pending claim that is not stored yet. */
export function newClaim(workspaceId: string, host: string, clock: Clock, random: Random): Domain {
  const now = clock.nowMicros()
  return {
    id: uuidV7(clock, random),
    workspace_id: workspaceId,
    host,
    status: 'pending',
    not_found_url: null,
    expired_url: null,
    created_at: now,
    updated_at: now,
  }
}

/**
 * Inserts a claim, and the keyspace for its links if there is none. Returns the id of the keyspace, or
 * undefined when the workspace has already claimed the host.
 */
export async function insertClaim(
  stores: ClaimStores,
  actor: Actor,
  domain: Domain,
): Promise<number | undefined> {
  if (!(await stores.domains.insert(domain))) return undefined
  const keyspaceId = await stores.keyspaces.open(domain.workspace_id, domain.host)
  await stores.domainChecks.insert(domain, newSchedule(domain.created_at))
  await stores.changes.append(hostChange(domain.host), domain.created_at)
  await stores.events.append(actor, domainCreated(domain), domain.created_at)
  return keyspaceId
}
