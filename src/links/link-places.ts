import { type Domain, type Domains, insertClaim, NEW_CLAIM, newClaim } from '../domains/index.ts'
import type { ServiceHost } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { enforceQuotas, type WorkspaceLimits } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { StaleRow } from '../platform/database/store.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { waitForAll } from '../platform/work/wait-for-all.ts'
import type { PlaceStores } from './link-stores.ts'

/** A host on which a workspace may have links. */
type Place = {
  readonly host: string
  /** Undefined where it has had none there yet. */
  readonly keyspaceId: number | undefined
  readonly isClaimed: boolean
}

/** The keyspace for a new link, and the claim that had to be made for it. */
export type OpenedPlace = { readonly keyspaceId: number; readonly claimed?: Domain }

export type LinkPlaces = {
  /**
   * Looks where a workspace's links on a host belong, in one step.
   *
   * @throws {Failure} `validation_failed` for a host on which it may not have links
   */
  find(stores: PlaceStores, workspaceId: string, host: string): Promise<Place>
  /**
   * Claims the host where the workspace has not yet.
   *
   * @throws {Failure} `validation_failed` where a quota is reached
   */
  open(
    stores: PlaceStores,
    place: Place,
    actor: Actor,
    limits: WorkspaceLimits,
  ): Promise<OpenedPlace>
}

export function linkPlaces(deps: {
  clock: Clock
  random: Random
  domains: Pick<Domains, 'refuseUnclaimable'>
  serviceHost: ServiceHost
  claimOnLink: boolean
}): LinkPlaces {
  const { clock, random, serviceHost } = deps

  return {
    async find(stores, workspaceId, host) {
      if (host === serviceHost.host) {
        return { host, keyspaceId: serviceHost.keyspaceId, isClaimed: true }
      }
      const [own, active, keyspaceId] = await waitForAll([
        stores.domains.findByHost(workspaceId, host),
        stores.domains.findActive(host),
        stores.keyspaces.find(workspaceId, host),
      ])
      if (active !== undefined && active.workspace_id !== workspaceId) {
        throw Failure.invalid({ domain: ['is not available to this workspace'] })
      }
      if (own !== undefined) return { host, keyspaceId, isClaimed: true }
      if (!deps.claimOnLink)
        throw Failure.invalid({ domain: ['must be added to the workspace first'] })
      deps.domains.refuseUnclaimable(host)
      return { host, keyspaceId, isClaimed: false }
    },

    async open(stores, { host, keyspaceId, isClaimed }, actor, limits) {
      const { workspaceId } = actor
      if (isClaimed) {
        return { keyspaceId: keyspaceId ?? (await stores.keyspaces.open(workspaceId, host)) }
      }
      await enforceQuotas(stores, limits, NEW_CLAIM)
      const claimed = newClaim(workspaceId, host, clock, random)
      const opened = await insertClaim(stores, actor, claimed)
      // Another request of the workspace claimed it between the look and the write: look again.
      if (opened === undefined) throw new StaleRow()
      return { keyspaceId: opened, claimed }
    },
  }
}
