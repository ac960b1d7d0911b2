import type { Domain, Domains } from '../domains/index.ts'
import { lookForLoops, refuseLoops, type ServiceHost } from '../hosts/index.ts'
import type { Actor } from '../identity/index.ts'
import { enforceQuotas, type QuotaBook, type WorkspaceLimits } from '../identity/index.ts'
import { type Change, linkChange } from '../platform/changes/change.ts'
import type { Random } from '../platform/crypto/random.ts'
import { isUuid, uuidV7 } from '../platform/crypto/uuid.ts'
import type { Page, Run } from '../platform/database/page.ts'
import type { Store } from '../platform/database/store.ts'
import { Failure, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import { once } from '../platform/idempotency/once.ts'
import type { IdempotentRequest } from '../platform/idempotency/store/idempotency-store.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import { waitForAll } from '../platform/work/wait-for-all.ts'
import { GENERATE_ATTEMPTS_MAX, keyTaken, withGeneratedKey } from './generated-key.ts'
import { foldKey, generateKey, isReservedKey, KEY_RESERVED, KEY_VARIANTS_MAX } from './key.ts'
import { keyFaultOf } from './key-fault.ts'
import { type Link, type LinkAttributes, linkVersion, type NewLink, NO_ATTRIBUTES } from './link.ts'
import { linkCreated, linkDeleted, linkUpdated } from './link-events.ts'
import { type LinkChanges, type LinkInput, type LinkRules, parseLinkInput } from './link-input.ts'
import type { LinkKeyspaces, OpenedKeyspace } from './link-keyspaces.ts'
import { type ActorQuery, LinkLists } from './link-lists.ts'
import type { LinkFilter, LinkQuery, LinkRun } from './link-query.ts'
import type { LinkStores } from './link-stores.ts'
import { parseLinkHost } from './parse-link-host.ts'
import { passwordChange } from './password-change.ts'
import { storedBytes } from './stored-bytes.ts'

type LinkDependencies = {
  readonly store: Store<LinkStores>
  readonly clock: Clock
  readonly random: Random
  readonly domains: Domains
  readonly keyspaces: LinkKeyspaces
  readonly vault: PasswordVault
  readonly serviceHost: ServiceHost
  /** URL schemes that `ios` and `android` may have besides http and https. */
  readonly appSchemes: readonly string[]
  readonly quotas: QuotaBook
  /** With `SEARCH_QUEUE`. */
  readonly searches: FairQueue
}

/** The parsed input of an update, with the rest that its transaction needs. */
type PreparedUpdate = {
  readonly id: string
  readonly changes: LinkChanges
  readonly limits: WorkspaceLimits
  readonly setPassword: Awaited<ReturnType<typeof passwordChange>>
  readonly expected: ExpectedVersions
}

/** A written link, and the domain that was added for it. */
type WrittenLink = { readonly link: Link; readonly claimed: Domain | undefined }

/** The operations on links. Each acts within the workspace of its actor. */
export class Links {
  readonly #deps: LinkDependencies
  readonly #lists: LinkLists
  readonly #rules: LinkRules

  constructor(deps: LinkDependencies) {
    this.#deps = deps
    this.#lists = new LinkLists(deps)
    this.#rules = {
      appSchemes: deps.appSchemes,
      parseDomain: (text) => parseLinkHost(text, deps.serviceHost),
    }
  }

  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  async create(actor: Actor, input: LinkInput, request?: IdempotentRequest): Promise<Link> {
    const { clock, random, vault, quotas, serviceHost } = this.#deps
    const { workspaceId } = actor
    const { domain, key, url, ...changes } = parseLinkInput(input, this.#rules)
    if (url === undefined) throw Failure.invalid({ url: ['is required'] })
    if (domain === undefined) throw Failure.invalid({ domain: ['is required'] })
    const limits = await quotas.limitsOf(workspaceId)
    const identity = { id: uuidV7(clock, random), workspace_id: workspaceId }
    const setPassword = await passwordChange(vault, changes.password ?? null, identity)
    const { password = null } = setPassword({ password: null })
    let claimed: Domain | undefined

    const destinations = destinationsOf({ url, ...changes })
    const drawn = { ...NO_ATTRIBUTES, ...changes, ...identity, domain, url, password }
    const growth = { links: 1, storage_bytes: storedBytes({ ...drawn, key: key ?? '' }) }

    const link = await this.#write((stores) =>
      once(stores, workspaceId, request, clock.nowMicros(), {
        look: async () => {
          const [, allowed] = await waitForAll([
            refuseLoops(stores, serviceHost, { workspaceId, host: domain }, destinations),
            this.#deps.keyspaces.findAllowed(stores, workspaceId, domain),
            enforceQuotas(stores, limits, growth),
          ])
          return allowed
        },
        work: async (allowed) => {
          const keyspace = await this.#deps.keyspaces.open(stores, allowed, actor, limits)
          claimed = keyspace.claimed
          const now = clock.nowMicros()
          const times = { created_at: now, updated_at: now }
          const fresh = { ...drawn, ...times, keyspace_id: keyspace.keyspaceId }
          const inserted = await this.#insert(stores, fresh, key)
          await stores.changes.append(changeOf(inserted), now)
          await stores.events.append(actor, linkCreated(inserted), now)
          return inserted
        },
      }),
    )
    if (claimed !== undefined) await this.#deps.domains.prove(claimed)
    return link
  }

  /** @throws {Failure} `not_found` */
  async get({ workspaceId }: Actor, id: string): Promise<Link> {
    const { links } = this.#deps.store.read
    const link = isUuid(id) ? await links.findById(workspaceId, id) : undefined
    if (link === undefined) throw Failure.notFound('Link')
    return link
  }

  /**
   * @throws {Failure} `validation_failed` when the domain or the destination is malformed, or the search
   *   takes too long
   * @throws {QueueRefusal} when too many searches are waiting
   */
  list(actor: Actor, query: ActorQuery<LinkQuery>): Promise<Page<Link>> {
    return this.#lists.list({ ...query, workspaceId: actor.workspaceId })
  }

  /** Returns consecutive links of a list. Throws what `list` throws. */
  run(actor: Actor, run: ActorQuery<LinkRun>): Promise<Run<Link, number>> {
    return this.#lists.run({ ...run, workspaceId: actor.workspaceId })
  }

  /** Returns the length of a list. Throws what `list` throws. */
  count(actor: Actor, filter: ActorQuery<LinkFilter>): Promise<number> {
    return this.#lists.count({ ...filter, workspaceId: actor.workspaceId })
  }

  /**
   * Changes the fields that `input` has. A key of null is replaced by a generated one.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  async update(
    actor: Actor,
    id: string,
    input: LinkInput,
    expected?: ExpectedVersions,
  ): Promise<Link> {
    const { random, vault, quotas, domains } = this.#deps
    const { workspaceId } = actor
    if (input.key === null) {
      const withKey = (key: string) => this.update(actor, id, { ...input, key }, expected)
      return withGeneratedKey(random, withKey)
    }
    const { password, ...changes } = parseLinkInput(input, this.#rules)
    if (!isUuid(id)) throw Failure.notFound('Link')
    const limits = await quotas.limitsOf(workspaceId)
    const setPassword = await passwordChange(vault, password, { id, workspace_id: workspaceId })
    const prepared = { id, changes, limits, setPassword, expected }
    const { link, claimed } = await this.#write((stores) => this.#update(stores, actor, prepared))
    if (claimed !== undefined) await domains.prove(claimed)
    return link
  }

  /** @throws {Failure} `not_found`, `precondition_failed` */
  async delete(actor: Actor, id: string, expected?: ExpectedVersions): Promise<void> {
    const { store, clock } = this.#deps
    if (!isUuid(id)) throw Failure.notFound('Link')
    await store.write(async (stores) => {
      const link = await stores.links.delete(actor.workspaceId, id)
      if (link === undefined) throw Failure.notFound('Link')
      requireVersion(expected, linkVersion(link))
      const now = clock.nowMicros()
      await stores.changes.append(changeOf(link), now)
      await stores.events.append(actor, linkDeleted(link), now)
    })
  }

  /** Returns the faults of an input's fields that can be found without the database. */
  faultsOf(input: LinkInput): FieldFaults {
    return faultsFoundBy(() => parseLinkInput(input, this.#rules))
  }

  /** Runs a transaction that writes a link; reports a taken key as a fault of the field. */
  async #write<T>(work: (stores: LinkStores) => Promise<T>): Promise<T> {
    try {
      return await this.#deps.store.write(work)
    } catch (error) {
      throw keyFaultOf(error)
    }
  }

  async #insert(stores: LinkStores, link: Omit<NewLink, 'key'>, key?: string): Promise<Link> {
    if (key !== undefined) {
      this.#refuseReserved(link.keyspace_id, key)
      const inserted = await stores.links.insert({ ...link, key }, KEY_VARIANTS_MAX)
      if (inserted === undefined) throw keyTaken()
      return inserted
    }
    // A generated key has no upper case, and 16 variants of one of 27.5 billion keys will not exist,
    // so the limit of variants is not checked.
    for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
      const drawn = { ...link, key: generateKey(this.#deps.random) }
      const inserted = await stores.links.insert(drawn)
      if (inserted !== undefined) return inserted
    }
    throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
  }

  async #update(
    stores: LinkStores,
    actor: Actor,
    { id, changes, limits, setPassword, expected }: PreparedUpdate,
  ): Promise<WrittenLink> {
    const { clock, serviceHost } = this.#deps
    const [current, refuseOn] = await waitForAll([
      stores.links.findUncounted(actor.workspaceId, id),
      lookForLoops(stores, serviceHost, actor.workspaceId, destinationsOf(changes)),
    ])
    if (current === undefined) throw Failure.notFound('Link')
    requireVersion(expected, linkVersion(current))
    // A link keeps its host even if the domain was deleted: only a move to another host needs a domain.
    const domain = changes.domain ?? current.domain
    refuseOn(domain)
    const keyspace: OpenedKeyspace =
      domain === current.domain
        ? { keyspaceId: current.keyspace_id }
        : await this.#moveTo(stores, { ...current, ...changes, domain }, actor, limits)
    const now = Math.max(clock.nowMicros(), current.updated_at + 1)
    const next = {
      ...current,
      ...changes,
      ...setPassword(current),
      domain,
      keyspace_id: keyspace.keyspaceId,
      updated_at: now,
    }
    this.#refuseReserved(next.keyspace_id, next.key)
    const bytes = storedBytes(next) - storedBytes(current)
    // Sent before the update without waiting, so that both take one round trip.
    const quotaCheck = enforceQuotas(stores, limits, { storage_bytes: bytes })
    const update = stores.links.update(next, current, KEY_VARIANTS_MAX)
    const [link] = await waitForAll([update, quotaCheck])
    const [from, to] = [changeOf(current), changeOf(next)]
    await stores.changes.append(from, now)
    if (to.subject !== from.subject) await stores.changes.append(to, now)
    await stores.events.append(actor, linkUpdated(current, next), now)
    return { link, claimed: keyspace.claimed }
  }

  /** Returns the keyspace for a link that moves. Unchanged destinations may loop on the new host. */
  async #moveTo(
    stores: LinkStores,
    link: LinkAttributes & Pick<Link, 'domain'>,
    actor: Actor,
    limits: WorkspaceLimits,
  ): Promise<OpenedKeyspace> {
    const on = { workspaceId: actor.workspaceId, host: link.domain }
    const [, allowed] = await waitForAll([
      refuseLoops(stores, this.#deps.serviceHost, on, destinationsOf(link)),
      this.#deps.keyspaces.findAllowed(stores, on.workspaceId, on.host),
    ])
    return this.#deps.keyspaces.open(stores, allowed, actor, limits)
  }

  #refuseReserved(keyspaceId: number, key: string): void {
    if (keyspaceId === this.#deps.serviceHost.keyspaceId && isReservedKey(key)) {
      throw Failure.invalid({ key: [KEY_RESERVED] })
    }
  }
}

function changeOf({ keyspace_id, key }: Pick<Link, 'keyspace_id' | 'key'>): Change {
  return linkChange(keyspace_id, foldKey(key))
}

function destinationsOf({ url, ios, android, expired_redirect_url }: LinkChanges) {
  return { url, ios, android, expired_redirect_url }
}
