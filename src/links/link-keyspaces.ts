import type { Fault } from '@terse/contract/faults'
import { type Domain, type Domains, insertClaim, NEW_CLAIM, newClaim } from '../domains/index.ts'
import type { ServiceHost } from '../hosts/index.ts'
import { type Actor, enforceQuotas, type WorkspaceLimits } from '../identity/index.ts'
import type { Random } from '../platform/crypto/random.ts'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import { waitForAll } from '../platform/work/async.ts'
import { StaleRow } from '../storage/store.ts'
import type { KeyspaceStores } from './link-stores.ts'

type KeyspaceDependencies = {
  readonly clock: Clock
  readonly random: Random
  readonly domains: Pick<Domains, 'refuseUnclaimable'>
  readonly serviceHost: ServiceHost
  /** Whether a link on a host that the workspace has not added adds the host. */
  readonly claimOnLink: boolean
}

/** A host on which a workspace may have links. */
export type AllowedHost = {
  readonly host: string
  /** Undefined when the workspace has never had links on the host. */
  readonly keyspaceId: number | undefined
  readonly isClaimed: boolean
}

/** The keyspace for a link, and the domain that was added for it. */
export type OpenedKeyspace = { readonly keyspaceId: number; readonly claimed?: Domain }

/** Finds or creates the keyspace for a link of a workspace on a host. */
export class LinkKeyspaces {
  readonly #deps: KeyspaceDependencies

  constructor(deps: KeyspaceDependencies) {
    this.#deps = deps
  }

  /**
   * Reads what the workspace has on the host, in one round trip.
   *
   * @param options.isAdded whether to take the host as added to the workspace
   * @throws {Failure} `validation_failed` when the actor must not create links on the host
   */
  async findAllowed(
    stores: KeyspaceStores,
    actor: Pick<Actor, 'kind' | 'workspaceId' | 'permissions'>,
    host: string,
    { isAdded = false } = {},
  ): Promise<AllowedHost> {
    const { serviceHost, domains, claimOnLink } = this.#deps
    const { workspaceId } = actor
    if (host === serviceHost.host) {
      return { host, keyspaceId: serviceHost.keyspaceId, isClaimed: true }
    }
    const [own, active, keyspaceId] = await waitForAll([
      stores.domains.findByHost(workspaceId, host),
      stores.domains.findActive(host),
      stores.keyspaces.find(workspaceId, host),
    ])
    if (active !== undefined && active.workspace_id !== workspaceId) {
      throw Failure.invalid({ domain: [{ code: 'unavailable_domain' }] })
    }
    if (own !== undefined || isAdded) return { host, keyspaceId, isClaimed: true }
    if (!claimOnLink) {
      throw Failure.invalid({ domain: [{ code: 'domain_not_added', reason: 'closed' }] })
    }
    if (!actor.permissions.has('domains.edit')) {
      const fault: Fault =
        actor.kind === 'token'
          ? { code: 'domain_not_added', reason: 'scope', scope: 'domains:write' }
          : { code: 'domain_not_added', reason: 'role', role: 'admin' }
      throw Failure.invalid({ domain: [fault] })
    }
    domains.refuseUnclaimable(host)
    return { host, keyspaceId, isClaimed: false }
  }

  /**
   * Adds the host to the workspace if it has not been added.
   *
   * @throws {Failure} `validation_failed` when a quota is reached
   */
  async open(
    stores: KeyspaceStores,
    { host, keyspaceId, isClaimed }: AllowedHost,
    actor: Actor,
    limits: WorkspaceLimits,
  ): Promise<OpenedKeyspace> {
    const { workspaceId } = actor
    if (isClaimed) {
      return { keyspaceId: keyspaceId ?? (await stores.keyspaces.open(workspaceId, host)) }
    }
    await enforceQuotas(stores, limits, NEW_CLAIM)
    const claimed = newClaim(workspaceId, host, this.#deps.clock, this.#deps.random)
    const opened = await insertClaim(stores, actor, claimed)
    // Another request of the workspace has added the host since it was read: run the transaction again.
    if (opened === undefined) throw new StaleRow()
    return { keyspaceId: opened, claimed }
  }
}
