import { fromFields, LINK_TEXT_FIELDS, LINK_TEXTS } from '@terse/contract/link-fields'
import type { Rule } from '@terse/contract/rules'
import type { Domain } from '../domains/index.ts'
import type { ServiceHost } from '../hosts/index.ts'
import {
  type Actor,
  enforceQuotas,
  type QuotaBook,
  type WorkspaceLimits,
} from '../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../platform/crypto/random.ts'
import { Failure, type FieldFaults, faultsFoundBy } from '../platform/failure.ts'
import type { PasswordVault } from '../platform/passwords/password-vault.ts'
import type { Clock } from '../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion } from '../platform/version.ts'
import { waitForAll } from '../platform/work/async.ts'
import { type Change, linkChange, pathsChange } from '../storage/changes.ts'
import { changedFields, hasChanges, type NewEvent } from '../storage/event-log.ts'
import { timesOfWrite } from '../storage/managed.ts'
import { type TryExamples, triedExamples } from './examples.ts'
import {
  foldKey,
  GENERATE_ATTEMPTS_MAX,
  generateKey,
  hasPlaceholders,
  KEY_VARIANTS_MAX,
  keyTaken,
  PATH_LINKS_MAX,
  reservationOf,
} from './key.ts'
import { findKeyspaces, refuseLoops, refuseOwnAddress } from './leading-back.ts'
import {
  type Link,
  linkCreated,
  linkDeleted,
  linkUpdated,
  linkVersion,
  type NewLink,
  NO_ATTRIBUTES,
  storedBytes,
  type UncountedLink,
} from './link.ts'
import {
  type EditedTags,
  editTags,
  type LinkChanges,
  type LinkInput,
  type LinkRules,
  parseLinkHost,
  parseLinkInput,
  passwordChange,
  unknownPassword,
} from './link-input.ts'
import type { AllowedHost, LinkKeyspaces, OpenedKeyspace } from './link-keyspaces.ts'
import type { LinkStores } from './link-stores.ts'
import { imageNameOf } from './previews/image-name.ts'
import { findSetsOf } from './rule-sets/rule-set-store.ts'

type WrittenTimes = ReturnType<typeof timesOfWrite>

export type LinkWriterDependencies = {
  readonly clock: Clock
  readonly random: Random
  readonly keyspaces: LinkKeyspaces
  readonly vault: PasswordVault
  readonly serviceHost: ServiceHost
  /** URL schemes that `ios` and `android` may have besides http and https. */
  readonly appSchemes: readonly string[]
  /** Whether visitors have cities, for rules. */
  readonly hasCities: boolean
  readonly quotas: QuotaBook
  /** Undefined where examples stay as they are. */
  readonly tryExamples: TryExamples | undefined
}

/** A link to create, after its input was parsed, with what the transaction needs besides. */
export type PreparedCreate = {
  readonly fields: Omit<NewLink, 'key' | 'keyspace_id' | 'created_at' | keyof WrittenTimes>
  /** Generated when undefined. */
  readonly key: string | undefined
  readonly limits: WorkspaceLimits
}

/** An input of an update after it was parsed, with what the transaction needs besides. */
export type PreparedUpdate = {
  readonly id: string
  readonly changes: LinkChanges
  readonly tags: EditedTags | undefined
  readonly limits: WorkspaceLimits
  readonly setPassword: Awaited<ReturnType<typeof passwordChange>>
  readonly expected: ExpectedVersions
  /** Whether results of the link's examples may change. */
  readonly acceptsChanges: boolean
}

/** What the transaction of an update has read and decided. */
export type CheckedUpdate = {
  readonly current: UncountedLink
  readonly next: Omit<UncountedLink, 'keyspace_id' | keyof WrittenTimes>
  /** Where the link moves; undefined where it stays on its host. */
  readonly allowed: AllowedHost | undefined
}

/** A written link, and the claim on its host that had to be made for it. */
export type WrittenLink = { readonly link: Link; readonly claimed: Domain | undefined }

/** An updated link, with the changed fields as they were, except the password. */
type UpdatedLink = WrittenLink & { readonly before: NewEvent['before'] }

/**
 * Writes links in three steps: `prepare…` before the transaction, because it may hash a password; `check…`
 * in the transaction, which writes nothing; then the write itself.
 */
export class LinkWriter {
  readonly #deps: LinkWriterDependencies
  readonly #rules: LinkRules

  constructor(deps: LinkWriterDependencies) {
    this.#deps = deps
    this.#rules = {
      appSchemes: deps.appSchemes,
      hasCities: deps.hasCities,
      random: deps.random,
      parseDomain: (text) => parseLinkHost(text, deps.serviceHost),
    }
  }

  /** Returns what is wrong with the fields of an input, as far as it shows without the store. */
  faultsOf(input: LinkInput): FieldFaults {
    return faultsFoundBy(() => parseLinkInput(input, this.#rules))
  }

  /** @throws {Failure} `validation_failed` */
  parse(input: Omit<LinkInput, 'domain' | 'key'>): LinkChanges {
    return parseLinkInput(input, this.#rules)
  }

  /**
   * @param options.isLocked gives the link a random password
   * @throws {Failure} `validation_failed`
   */
  async prepareCreate(
    { workspaceId }: Actor,
    input: LinkInput,
    { isLocked = false }: { isLocked?: boolean } = {},
  ): Promise<PreparedCreate> {
    const { clock, random, vault, quotas } = this.#deps
    const { domain, key, url, ...changes } = parseLinkInput(input, this.#rules)
    if (url === undefined) throw Failure.invalid({ url: [{ code: 'required' }] })
    if (domain === undefined) throw Failure.invalid({ domain: [{ code: 'required' }] })
    const limits = await quotas.limitsOf(workspaceId)
    const identity = { id: uuidV7(clock, random), workspace_id: workspaceId }
    const setPassword = isLocked
      ? unknownPassword(vault, identity)
      : await passwordChange(vault, changes.password ?? null, identity)
    const { password = null } = setPassword({ password: null })
    const fields = { ...NO_ATTRIBUTES, ...changes, ...identity, domain, url, password }
    if (hasPlaceholders(key ?? '')) fields.path = 'capture'
    return { fields, key, limits }
  }

  /**
   * @throws {Failure} `validation_failed`
   * @throws {StaleRow} see `enforceQuotas`
   */
  async checkCreate(
    stores: LinkStores,
    actor: Actor,
    { fields, key, limits }: PreparedCreate,
  ): Promise<AllowedHost> {
    const { serviceHost, keyspaces } = this.#deps
    const growth = { links: 1, storage_bytes: storedBytes({ ...fields, key: key ?? '' }) }
    const destinations = destinationsOf(fields)
    const [found, allowed] = await waitForAll([
      findKeyspaces(stores, serviceHost, actor.workspaceId, destinations),
      keyspaces.findAllowed(stores, actor, fields.domain),
      enforceQuotas(stores, limits, growth),
      requireRuleSet(stores, actor, fields.rule_set),
      requireImage(stores, actor, fields.image, serviceHost),
    ])
    await refuseLoops(stores, serviceHost, { ...fields, key }, destinations, found)
    if (fields.path !== 'none') await refuseTooManyPaths(stores, allowed.keyspaceId)
    return allowed
  }

  /** @throws {Failure} `validation_failed` */
  async create(
    stores: LinkStores,
    actor: Actor,
    { fields, key, limits }: PreparedCreate,
    allowed: AllowedHost,
  ): Promise<WrittenLink> {
    const { clock, keyspaces } = this.#deps
    const { keyspaceId, claimed } = await keyspaces.open(stores, allowed, actor, limits)
    const now = clock.nowMicros()
    const times = { created_at: now, ...timesOfCreate(fields, now) }
    const fresh = { ...fields, ...times, keyspace_id: keyspaceId }
    const link = await this.#insert(stores, actor, fresh, key)
    await appendChanges(stores, changesOf(link), now)
    await stores.events.append(actor, linkCreated(link), now)
    return { link, claimed }
  }

  /**
   * @param options.tags applied to the tags that the link has then
   * @param options.isLocked gives a link without a password a random one
   * @throws {Failure} `not_found`, `validation_failed`
   */
  async prepareUpdate(
    { workspaceId }: Actor,
    id: string,
    input: LinkInput,
    {
      expected,
      tags,
      isLocked = false,
      acceptsChanges = false,
    }: {
      expected?: ExpectedVersions
      tags?: EditedTags | undefined
      isLocked?: boolean
      acceptsChanges?: boolean
    } = {},
  ): Promise<PreparedUpdate> {
    const { vault, quotas } = this.#deps
    const { password, ...changes } = parseLinkInput(input, this.#rules)
    if (!isUuid(id)) throw Failure.notFound('Link')
    const limits = await quotas.limitsOf(workspaceId)
    const setPassword = isLocked
      ? unknownPassword(vault, { id })
      : await passwordChange(vault, password, { id, workspace_id: workspaceId })
    return { id, changes, tags, limits, setPassword, expected, acceptsChanges }
  }

  /**
   * @param options.followsLinks whether to refuse destinations that lead back through other links
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  async checkUpdate(
    stores: LinkStores,
    actor: Actor,
    prepared: PreparedUpdate,
    { followsLinks = true } = {},
  ): Promise<CheckedUpdate> {
    const { serviceHost, keyspaces } = this.#deps
    const { id, changes, tags, setPassword, expected } = prepared
    const { workspaceId } = actor
    const [current, found] = await waitForAll([
      stores.links.findUncounted(workspaceId, id),
      findKeyspaces(stores, serviceHost, workspaceId, followsLinks ? destinationsOf(changes) : {}),
    ])
    if (current === undefined) throw Failure.notFound('Link')
    requireVersion(expected, linkVersion(current))
    // A link whose domain was deleted keeps it: only a move to another host needs a claim.
    const domain = changes.domain ?? current.domain
    const changed = { ...current, ...changes, ...setPassword(current), domain }
    const edited = tags === undefined ? changed : { ...changed, tags: editTags(changed.tags, tags) }
    if (hasPlaceholders(edited.key)) edited.path = 'capture'
    const examples = await this.#triedExamples(stores, current, edited, prepared)
    const next = { ...edited, examples }
    if (next.rule_set !== current.rule_set) await requireRuleSet(stores, actor, next.rule_set)
    if (next.image !== current.image) await requireImage(stores, actor, next.image, serviceHost)
    // At another address its destinations may lead back though they stay as they are.
    const isMoved = domain !== current.domain || next.key !== current.key
    const destinations = isMoved ? destinationsOf(next) : changedDestinations(current, next)
    if (followsLinks) await refuseLoops(stores, serviceHost, next, destinations, found)
    else refuseOwnAddress(serviceHost, next, destinations)
    if (domain === current.domain) {
      if (next.key !== current.key) this.#refuseReserved(current.keyspace_id, next.key, actor)
      const isFirst = next.path !== 'none' && current.path === 'none'
      if (isFirst) await refuseTooManyPaths(stores, current.keyspace_id)
      return { current, next, allowed: undefined }
    }
    const allowed = await keyspaces.findAllowed(stores, actor, domain)
    this.#refuseReserved(allowed.keyspaceId, next.key, actor)
    if (next.path !== 'none') await refuseTooManyPaths(stores, allowed.keyspaceId)
    return { current, next, allowed }
  }

  /** @throws {Failure} `validation_failed` */
  async update(
    stores: LinkStores,
    actor: Actor,
    { limits, changes }: PreparedUpdate,
    { current, next: decided, allowed }: CheckedUpdate,
  ): Promise<UpdatedLink> {
    const { clock, keyspaces } = this.#deps
    const times = timesOfWrite(current, {
      managed_by: decided.managed_by,
      isNamed: changes.managed_by !== undefined,
      isChanged: isChanged(current, decided),
      nowMicros: clock.nowMicros(),
    })
    const { updated_at: now } = times
    if (now === current.updated_at) {
      const link = await stores.links.update({ ...current, ...times }, current)
      return { link, claimed: undefined, before: {} }
    }
    const { keyspaceId, claimed }: OpenedKeyspace =
      allowed === undefined
        ? { keyspaceId: current.keyspace_id }
        : await keyspaces.open(stores, allowed, actor, limits)
    const next = { ...decided, keyspace_id: keyspaceId, ...times }
    const bytes = storedBytes(next) - storedBytes(current)
    // Asked for before the row is written, answered with it.
    const quotaLook = enforceQuotas(stores, limits, { storage_bytes: bytes })
    const update = stores.links.update(next, current, KEY_VARIANTS_MAX)
    const [link] = await waitForAll([update, quotaLook])
    const from = changesOf(current)
    const isKnown = (to: Change) => from.some(({ subject }) => subject === to.subject)
    await appendChanges(stores, [...from, ...changesOf(next).filter((to) => !isKnown(to))], now)
    if (next.image !== current.image) await noteImageUse(stores, current, now)
    const event = linkUpdated(current, next)
    await stores.events.append(actor, event, now)
    return { link, claimed, before: event.before }
  }

  /**
   * A failure leaves the link as it is.
   *
   * @throws {Failure} `not_found`, `precondition_failed`, `validation_failed` for a link that must not be deleted
   */
  async delete(
    stores: LinkStores,
    actor: Actor,
    id: string,
    expected?: ExpectedVersions,
  ): Promise<UncountedLink> {
    const requireDeletable = (link: UncountedLink) => {
      requireVersion(expected, linkVersion(link))
      if (!link.prevent_delete) return
      throw Failure.invalid({ prevent_delete: [{ code: 'deletion_prevented' }] })
    }
    const link = isUuid(id)
      ? await stores.links.delete(actor.workspaceId, id, requireDeletable)
      : undefined
    if (link === undefined) throw Failure.notFound('Link')
    const now = this.#deps.clock.nowMicros()
    await stores.erasures.noteLink(link, now)
    await noteImageUse(stores, link, now)
    await appendChanges(stores, changesOf(link), now)
    await stores.events.append(actor, linkDeleted(link), now)
    return link
  }

  async #insert(
    stores: LinkStores,
    actor: Actor,
    link: Omit<NewLink, 'key'>,
    key: string | undefined,
  ): Promise<Link> {
    if (key !== undefined) {
      this.#refuseReserved(link.keyspace_id, key, actor)
      const inserted = await stores.links.insert({ ...link, key }, KEY_VARIANTS_MAX)
      if (inserted === undefined) throw keyTaken()
      return inserted
    }
    // Not counted: one of 27.5 billion does not happen to meet 16 variants of itself.
    for (let attempt = 0; attempt < GENERATE_ATTEMPTS_MAX; attempt += 1) {
      const candidate = { ...link, key: generateKey(this.#deps.random) }
      const inserted = await stores.links.insert(candidate)
      if (inserted !== undefined) return inserted
    }
    throw new Error(`${GENERATE_ATTEMPTS_MAX} generated keys in a row were taken`)
  }

  /** @throws {Failure} `examples_changed` */
  async #triedExamples(
    stores: LinkStores,
    current: UncountedLink,
    next: CheckedUpdate['next'],
    { changes, acceptsChanges }: PreparedUpdate,
  ): Promise<UncountedLink['examples']> {
    const { tryExamples, clock } = this.#deps
    if (next.examples === null || tryExamples === undefined) return next.examples
    const setsOf = new Map<object, readonly (readonly Rule[])[]>()
    for (const link of [current, next]) {
      const sets = await findSetsOf(stores, link)
      setsOf.set(
        link,
        sets.map(({ rules }) => rules),
      )
    }
    const { labelParameter } = await stores.directory.findVisitSettings(current.workspace_id)
    const nowMicros = clock.nowMicros()
    return triedExamples({ changes, current, next, acceptsChanges }, (link) =>
      tryExamples(link, { sets: setsOf.get(link) ?? [], labelParameter, nowMicros }),
    )
  }

  #refuseReserved(keyspaceId: number | undefined, key: string, actor: Actor): void {
    if (keyspaceId !== this.#deps.serviceHost.keyspaceId) return
    const reason = reservationOf(key, actor)
    if (reason !== undefined) throw Failure.invalid({ key: [reason] })
  }
}

/**
 * Keeps the set from being deleted before the transaction ends.
 *
 * @throws {Failure} `validation_failed` when the workspace has no such set
 */
async function requireRuleSet(
  { ruleSets }: LinkStores,
  { workspaceId }: Actor,
  id: string | null,
): Promise<void> {
  if (id !== null && !(await ruleSets.has(workspaceId, id, 'share'))) throw unknownRuleSet()
}

export function unknownRuleSet(): Failure {
  return Failure.invalid({ rule_set: [{ code: 'unknown_rule_set' }] })
}

/**
 * Keeps an uploaded image from being deleted before the transaction ends.
 *
 * @param image any URL; those of other hosts are not checked
 * @throws {Failure} `validation_failed` when the workspace has no such image
 */
async function requireImage(
  { images }: LinkStores,
  { workspaceId }: Actor,
  image: string | null,
  service: ServiceHost,
): Promise<void> {
  const name = imageNameOf(image)
  if (name === undefined || new URL(image ?? '').hostname !== service.host) return
  if (await images.has(workspaceId, name.hash, 'share')) return
  throw Failure.invalid({ image: [{ code: 'unknown_image' }] })
}

/** The image of a link that no longer uses it is kept from then on, for another link or a revert. */
async function noteImageUse(
  { images }: LinkStores,
  { image, workspace_id }: UncountedLink,
  atMicros: number,
): Promise<void> {
  const name = imageNameOf(image)
  if (name !== undefined) await images.noteUse(workspace_id, name.hash, atMicros)
}

/** @throws {Failure} `validation_failed` where the keyspace can have no more links that use the path */
export async function refuseTooManyPaths(
  { links }: Pick<LinkStores, 'links'>,
  keyspaceId: number | undefined,
): Promise<void> {
  if (keyspaceId === undefined || (await links.countPaths(keyspaceId)) < PATH_LINKS_MAX) return
  throw Failure.invalid({ path: [{ code: 'too_many_paths', max: PATH_LINKS_MAX }] })
}

/** Whether an update changes any field of a link, its instants aside. */
export function isChanged(current: UncountedLink, next: CheckedUpdate['next']): boolean {
  return hasChanges(changedFields(current, next))
}

export function timesOfCreate(
  { managed_by }: Pick<NewLink, 'managed_by'>,
  nowMicros: number,
): WrittenTimes {
  return timesOfWrite(undefined, { managed_by, isNamed: true, isChanged: true, nowMicros })
}

/** What a write of this link changes for redirects. */
export function changesOf({
  keyspace_id,
  key,
  path,
}: Pick<Link, 'keyspace_id' | 'key' | 'path'>): readonly Change[] {
  const change = linkChange(keyspace_id, foldKey(key))
  return path === 'none' ? [change] : [change, pathsChange(keyspace_id)]
}

export async function appendChanges(
  { changes }: Pick<LinkStores, 'changes'>,
  appended: readonly Change[],
  atMicros: number,
): Promise<void> {
  for (const change of appended) await changes.append(change, atMicros)
}

function changedDestinations(current: UncountedLink, next: LinkChanges) {
  const before = destinationsOf(current)
  const isNew = ([field, destination]: [string, unknown]) =>
    destination !== before[field as keyof typeof before]
  return Object.fromEntries(Object.entries(destinationsOf(next)).filter(isNew))
}

const DESTINATION_FIELDS = [
  'url' as const,
  ...LINK_TEXT_FIELDS.filter((field) => LINK_TEXTS[field].kind.endsWith('destination')),
]

export function destinationsOf(link: LinkChanges) {
  return fromFields(DESTINATION_FIELDS, (field) => link[field])
}
