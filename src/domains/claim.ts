import type { Actor, Growth } from '../identity/index.ts'
import { type Random, uuidV7 } from '../platform/crypto/random.ts'
import type { Clock } from '../platform/time/clock.ts'
import { hostChange } from '../storage/changes.ts'
import { newSchedule } from './check-schedule.ts'
import type { Domain } from './domain.ts'
import { domainCreated } from './domain-events.ts'
import type { ClaimStores } from './domain-stores.ts'

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
