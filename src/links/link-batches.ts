import { examplesInput } from '@terse/contract/explain'
import { createLinkBody } from '@terse/contract/links'
import { rulesBody } from '@terse/contract/rules'
import type { Domain } from '../domains/index.ts'
import type { ServiceHost } from '../hosts/index.ts'
import { type Actor, enforceQuotas } from '../identity/index.ts'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import { validateWith } from '../platform/http/api/validation.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { ExpectedVersions } from '../platform/version.ts'
import { StaleRow } from '../storage/store.ts'
import { foldKey, KEY_VARIANTS_MAX, reservationOf } from './key.ts'
import { refuseOwnAddress } from './leading-back.ts'
import { linkCreated, storedBytes, type UncountedLink } from './link.ts'
import type { LinkInput } from './link-input.ts'
import type { AllowedHost, LinkKeyspaces } from './link-keyspaces.ts'
import type { LinkStores } from './link-stores.ts'
import {
  appendChanges,
  type CheckedUpdate,
  changesOf,
  destinationsOf,
  isChanged,
  type LinkWriter,
  type PreparedCreate,
  type PreparedUpdate,
  refuseTooManyPaths,
  timesOfCreate,
  unknownRuleSet,
} from './link-writer.ts'
import { imageNameOf } from './previews/image-name.ts'
import type { KeyHolder, LinkBatchStore } from './store/link-batch-store.ts'

/** As in `look`: what an update would refuse must not depend on the order of the links. */
const OWN_ADDRESS = { followsLinks: false }

export type LinkBatchStores = LinkStores & { readonly linkBatches: LinkBatchStore }

/** What was read for new links of one workspace. */
export type LookedBatch = {
  /** Returns the link that has the key. */
  holderOf(host: string, key: string): KeyHolder | undefined
  /** @throws {Failure} `validation_failed` when the link cannot be created whatever keys are free */
  require(create: PreparedCreate): void
  /** Whether so many keys of the host differ from this one only by letter case that no other may. */
  isCrowded(host: string, key: string, added: number): boolean
  /** What to open for a link on this host; undefined when it may have no links. */
  readonly allowed: ReadonlyMap<string, AllowedHost>
}

/** A link to write, with the key that was free. */
export type BatchLink = {
  readonly create: PreparedCreate
  readonly key: string
  /** Microseconds since the epoch. */
  readonly createdAt: number
}

export type WrittenBatch = {
  readonly links: readonly UncountedLink[]
  readonly claimed: readonly Domain[]
}

/** A link after an update, and whether that changed anything. */
export type BatchUpdate = {
  readonly link: UncountedLink
  readonly isChanged: boolean
  /** Whether a link that had no password has one now. */
  readonly isProtected: boolean
}

/** A link as the API accepts it, with its rules and examples, which have requests of their own there. */
const importedLink = createLinkBody.extend({
  rules: rulesBody.shape.rules.nullable(),
  examples: examplesInput.nullable(),
})

type Dependencies = {
  readonly writer: LinkWriter
  readonly clock: Clock
  readonly keyspaces: LinkKeyspaces
  readonly serviceHost: ServiceHost
}

/** Creates many links of one workspace in one transaction, with a number of statements that hardly grows with them. */
export class LinkBatches {
  readonly #deps: Dependencies

  readonly #check: (input: LinkInput) => FieldFaults

  constructor(deps: Dependencies) {
    this.#deps = deps
    const faultsOf = (input: LinkInput) => deps.writer.faultsOf(input)
    const check = validateWith(faultsOf)({
      schema: importedLink,
      httpPart: 'body',
      method: 'POST',
      url: '',
    })
    this.#check = (input) => {
      const checked: { error?: unknown } = Object(check(input))
      if (checked.error === undefined) return faultsOf(input)
      return checked.error instanceof Failure ? (checked.error.fields ?? {}) : {}
    }
  }

  /** Returns what the API would refuse of the input of a new link, without the database. */
  faultsOf(input: LinkInput): FieldFaults {
    return this.#check(input)
  }

  /** As `LinkWriter.prepareCreate`. Call it shortly before the transaction: the identifier has the time. */
  prepareCreate(actor: Actor, input: LinkInput, isLocked: boolean): Promise<PreparedCreate> {
    return this.#deps.writer.prepareCreate(actor, input, { isLocked })
  }

  /** As `LinkWriter.prepareUpdate`. */
  prepareUpdate(
    actor: Actor,
    id: string,
    input: LinkInput,
    options: { readonly isLocked?: boolean; readonly expected?: ExpectedVersions },
  ): Promise<PreparedUpdate> {
    return this.#deps.writer.prepareUpdate(actor, id, input, { ...options, acceptsChanges: true })
  }

  /**
   * Updates a link, unless it has all the values already. Returns why it cannot be updated; then it has written
   * nothing.
   *
   * @throws {Failure} `validation_failed` when a quota would be passed: the transaction must not continue
   */
  async update(
    stores: LinkBatchStores,
    actor: Actor,
    prepared: PreparedUpdate,
  ): Promise<BatchUpdate | Failure> {
    const { writer } = this.#deps
    const checked = await failureOr(() => writer.checkUpdate(stores, actor, prepared, OWN_ADDRESS))
    if (checked instanceof Failure) return checked
    const compared = compare(checked)
    if (!compared.isChanged) return compared
    const { link } = await writer.update(stores, actor, prepared, checked)
    return { ...compared, link }
  }

  /** Returns what `update` would, and writes nothing: the link is as it is before. */
  async previewUpdate(
    stores: LinkBatchStores,
    actor: Actor,
    prepared: PreparedUpdate,
  ): Promise<BatchUpdate | Failure> {
    const { writer } = this.#deps
    const checked = await failureOr(() => writer.checkUpdate(stores, actor, prepared, OWN_ADDRESS))
    return checked instanceof Failure ? checked : compare(checked)
  }

  /**
   * Reads what decides whether links can be created, on the stores of a transaction or on committed data.
   *
   * @param added hosts to take as added to the workspace
   */
  async look(
    stores: LinkBatchStores,
    actor: Actor,
    creates: readonly PreparedCreate[],
    added: ReadonlySet<string>,
  ): Promise<LookedBatch> {
    const { serviceHost, keyspaces } = this.#deps
    const byHost = Map.groupBy(creates, ({ fields }) => fields.domain)
    const allowed = new Map<string, AllowedHost>()
    const refused = new Map<string, Failure>()
    const withoutPaths = new Map<string, Failure>()
    const holders = new Map<string, KeyHolder[]>()
    for (const [host, onHost] of byHost) {
      const place = await failureOr(() =>
        keyspaces.findAllowed(stores, actor, host, { isAdded: added.has(host) }),
      )
      if (place instanceof Failure) {
        refused.set(host, place)
        continue
      }
      allowed.set(host, place)
      if (place.keyspaceId === undefined) continue
      if (onHost.some(({ fields }) => fields.path !== 'none')) {
        const full = await failureOr(() => refuseTooManyPaths(stores, place.keyspaceId))
        if (full instanceof Failure) withoutPaths.set(host, full)
      }
      const keys = onHost.flatMap(({ key }) => key ?? [])
      for (const holder of await stores.linkBatches.findHolders(place.keyspaceId, keys)) {
        const name = placeOf(host, holder.key)
        holders.set(name, [...(holders.get(name) ?? []), holder])
      }
    }
    const ruleSets = new Set<string>()
    for (const id of ruleSetsOf(creates)) {
      if (await stores.ruleSets.has(actor.workspaceId, id)) ruleSets.add(id)
    }
    const variants = (host: string, key: string) => holders.get(placeOf(host, key)) ?? []
    const holderOf = (host: string, key: string) =>
      variants(host, key).find((holder) => holder.key === key)
    return {
      allowed,
      holderOf,
      isCrowded: (host, key, added) => variants(host, key).length + added >= KEY_VARIANTS_MAX,
      require({ fields, key = '' }) {
        const failure = refused.get(fields.domain)
        if (failure !== undefined) throw failure
        if (fields.rule_set !== null && !ruleSets.has(fields.rule_set)) throw unknownRuleSet()
        const isNew = holderOf(fields.domain, key) === undefined
        const full = fields.path === 'none' ? undefined : withoutPaths.get(fields.domain)
        if (isNew && full !== undefined) throw full
        const isNewHere = fields.domain === serviceHost.host && isNew
        const reason = isNewHere ? reservationOf(key, actor) : undefined
        if (reason !== undefined) throw Failure.invalid({ key: [reason] })
        // The order of the links must not decide which are refused, so nothing is followed: a visit does that.
        refuseOwnAddress(serviceHost, { ...fields, key }, destinationsOf(fields))
      },
    }
  }

  /**
   * Creates links whose keys `look` found free, in their order.
   *
   * @throws {Failure} `validation_failed` when a quota would be passed
   * @throws {StaleRow} when a key was taken since, or a rule set deleted
   */
  async write(
    stores: LinkBatchStores,
    actor: Actor,
    { allowed }: LookedBatch,
    links: readonly BatchLink[],
  ): Promise<WrittenBatch> {
    const [{ create } = {}] = links
    if (create === undefined) return { links: [], claimed: [] }
    const { clock, keyspaces } = this.#deps
    await enforceQuotas(stores, create.limits, {
      links: links.length,
      storage_bytes: links.reduce(
        (sum, { create: { fields }, key }) => sum + storedBytes({ ...fields, key }),
        0,
      ),
    })
    for (const id of ruleSetsOf(links.map((link) => link.create))) {
      if (!(await stores.ruleSets.has(actor.workspaceId, id, 'share'))) throw new StaleRow()
    }
    // Images that are there stay. A link with another one, from another workspace or instance, only names it.
    for (const hash of imagesOf(links.map((link) => link.create))) {
      await stores.images.has(actor.workspaceId, hash, 'share')
    }
    const opened = new Map<string, number>()
    const claimed: Domain[] = []
    for (const host of new Set(links.map((link) => link.create.fields.domain))) {
      const place = allowed.get(host)
      if (place === undefined) throw new Error(`no link can be on ${host}`)
      const open = await keyspaces.open(stores, place, actor, create.limits)
      opened.set(host, open.keyspaceId)
      if (open.claimed !== undefined) claimed.push(open.claimed)
    }
    const now = clock.nowMicros()
    const written = await stores.linkBatches.insert(
      links.map(({ create: { fields }, key, createdAt }) => ({
        ...fields,
        key,
        keyspace_id: opened.get(fields.domain) ?? 0,
        created_at: createdAt,
        ...timesOfCreate(fields, now),
      })),
      KEY_VARIANTS_MAX,
    )
    for (const link of written) {
      await appendChanges(stores, changesOf(link), now)
      await stores.events.append(actor, linkCreated(link), now)
    }
    return { links: written, claimed }
  }
}

function ruleSetsOf(creates: readonly PreparedCreate[]): ReadonlySet<string> {
  return new Set(creates.flatMap(({ fields }) => fields.rule_set ?? []))
}

function imagesOf(creates: readonly PreparedCreate[]): ReadonlySet<string> {
  return new Set(creates.flatMap(({ fields }) => imageNameOf(fields.image)?.hash ?? []))
}

function compare({ current, next }: CheckedUpdate): BatchUpdate {
  const isProtected = current.password === null && next.password !== null
  return { link: current, isChanged: isChanged(current, next), isProtected }
}

function placeOf(host: string, key: string): string {
  return `${host}/${foldKey(key)}`
}

/** Returns a failure that is the fault of the input. */
async function failureOr<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure && error.code !== 'unavailable') return error
    throw error
  }
}
