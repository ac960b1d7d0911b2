import type { Clock } from '../platform/time/clock.ts'
import { hostChange } from '../storage/changes.ts'
import type { Store } from '../storage/store.ts'
import { decideCheck, demotedSchedule } from './check-schedule.ts'
import type { DnsLookup, DnsLookups } from './dns-lookup.ts'
import type { Domain } from './domain.ts'
import { domainChecker, domainUnverified, domainVerified } from './domain-events.ts'
import type { CheckStores } from './domain-stores.ts'
import type { LeasedCheck } from './store/domain-check-store.ts'

/** A host that has become active in another workspace. */
export type DomainMove = {
  readonly host: string
  readonly fromWorkspaceId: string
  readonly toWorkspaceId: string
}

/**
 * Stores the result of a check and the change of status that follows from it, in one transaction. Stores
 * nothing when the lease was lost, or when the domain was renamed or deleted during the look-up.
 *
 * @throws {UniqueViolation} when another claim on the host became active meanwhile
 */
export async function concludeCheck(
  deps: { store: Store<CheckStores>; clock: Clock; hasLostProof: DnsLookups['hasLostProof'] },
  lease: LeasedCheck,
  seen: DnsLookup,
): Promise<DomainMove | undefined> {
  const { store, clock, hasLostProof } = deps
  return store.write(async (stores) => {
    const { host, workspace_id, id } = lease.domain
    const now = clock.nowMicros()
    const domain = await stores.domains.findById(workspace_id, id)
    if (domain === undefined) return undefined
    const holder =
      seen.verdict === 'proved' && domain.status === 'pending'
        ? await stores.domains.findActive(host)
        : undefined
    const mayMove = holder === undefined || hasLostProof(holder, seen)
    const verdict = mayMove ? seen.verdict : 'unproved'
    const { change, schedule } = decideCheck(domain.status, lease.schedule, verdict, now)
    const check = { at: now, verdict: seen.verdict }
    if (!(await stores.domainChecks.finish(lease, schedule, check))) return undefined
    if (change === 'none') return undefined
    if (change === 'deactivate') {
      await stores.domainChecks.makeDue(host, now)
      await deactivate(stores, domain, now)
      return undefined
    }
    if (holder !== undefined) {
      await stores.domainChecks.restart(holder.id, demotedSchedule(now))
      await deactivate(stores, holder, now)
    }
    await stores.domains.activate(id, host, now)
    await stores.changes.append(hostChange(host), now)
    await stores.events.append(domainChecker(workspace_id), domainVerified(domain), now)
    return holder && { host, fromWorkspaceId: holder.workspace_id, toWorkspaceId: workspace_id }
  })
}

async function deactivate(stores: CheckStores, domain: Domain, now: number): Promise<void> {
  await stores.domains.deactivate(domain.id, domain.host, now)
  await stores.changes.append(hostChange(domain.host), now)
  await stores.events.append(domainChecker(domain.workspace_id), domainUnverified(domain), now)
}
