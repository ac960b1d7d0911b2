import type { Domain, Domains } from '../domains/index.ts'
import type { ServiceHost } from '../hosts/index.ts'
import type { Actor, ErasureStore } from '../identity/index.ts'
import { isUuid, type Random } from '../platform/crypto/random.ts'
import { Failure, type FieldFaults } from '../platform/failure.ts'
import type { IdempotentRequest } from '../platform/http/api/idempotency.ts'
import type { Page, Run } from '../platform/http/api/pagination.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { ExpectedVersions } from '../platform/version.ts'
import type { FairQueue } from '../platform/work/fair-queue.ts'
import type { ChangeLog } from '../storage/changes.ts'
import { runIdempotent } from '../storage/idempotency.ts'
import type { Store } from '../storage/store.ts'
import { withGeneratedKey } from './key.ts'
import type { Link, UncountedLink } from './link.ts'
import type { LinkValues } from './link-dimensions.ts'
import type { LinkInput } from './link-input.ts'
import { keyFaultOf } from './link-keys.ts'
import { type ActorQuery, LinkLists } from './link-lists.ts'
import type { HostCounts, LinkFilter, LinkQuery, LinkRun } from './link-query.ts'
import type { LinkStores } from './link-stores.ts'
import { appendChanges, changesOf, type LinkWriter, unknownRuleSet } from './link-writer.ts'
import { findSetsOf, type RuleSet } from './rule-sets/rule-set-store.ts'
import type { LinkStore } from './store/link-store.ts'

/** The changes that can be tried out. */
export type DraftInput = Pick<LinkInput, 'rules' | 'url' | 'rule_set'>

type LinkDependencies = {
  readonly store: Store<LinkStores>
  readonly clock: Clock
  readonly random: Random
  readonly domains: Pick<Domains, 'prove'>
  readonly serviceHost: ServiceHost
  readonly writer: LinkWriter
  /** With `SEARCH_QUEUE`. */
  readonly searches: FairQueue
}

/** The operations on links. Each acts within the workspace of its actor. */
export class Links {
  readonly #deps: LinkDependencies
  readonly #lists: LinkLists

  constructor(deps: LinkDependencies) {
    this.#deps = deps
    this.#lists = new LinkLists(deps)
  }

  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  async create(actor: Actor, input: LinkInput, request?: IdempotentRequest): Promise<Link> {
    const { clock, domains, writer } = this.#deps
    const prepared = await writer.prepareCreate(actor, input)
    let claimed: Domain | undefined
    const link = await this.#write((stores) =>
      runIdempotent(stores, actor.workspaceId, request, clock.nowMicros(), {
        read: () => writer.checkCreate(stores, actor, prepared),
        write: async (place) => {
          const written = await writer.create(stores, actor, prepared, place)
          claimed = written.claimed
          return written.link
        },
      }),
    )
    if (claimed !== undefined) await domains.prove(claimed)
    return link
  }

  /** Returns the links that exist, in the order of `ids`. */
  async findMany(
    { workspaceId }: Actor,
    ids: readonly string[],
  ): Promise<readonly UncountedLink[]> {
    const wanted = [...new Set(ids)].filter(isUuid)
    const found = await this.#deps.store.read.links.findMany(workspaceId, wanted)
    const byId = new Map(found.map((link) => [link.id, link]))
    return wanted.flatMap((id) => byId.get(id) ?? [])
  }

  /** Returns what clicks on these links are counted by, by the links' numbers. */
  valuesOf(linkSeqs: readonly number[]): Promise<ReadonlyMap<number, LinkValues>> {
    return this.#deps.store.read.links.valuesOf(linkSeqs)
  }

  /** @throws {Failure} `not_found` */
  async get({ workspaceId }: Actor, id: string): Promise<Link> {
    const { links } = this.#deps.store.read
    const link = isUuid(id) ? await links.findById(workspaceId, id) : undefined
    if (link === undefined) throw Failure.notFound('Link')
    return link
  }

  /** Returns the rule sets that are tried behind the rules of a link, in their order. */
  ruleSetsOf(
    link: Pick<Link, 'workspace_id' | 'domain' | 'rule_set'>,
  ): Promise<readonly RuleSet[]> {
    return findSetsOf(this.#deps.store.read, link)
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

  /** Returns undefined when counting takes too long, or too many searches are waiting. */
  countByHost(
    actor: Actor,
    counts: Omit<HostCounts, 'workspaceId'>,
  ): Promise<ReadonlyMap<string, number> | undefined> {
    return this.#lists.countByHost({ ...counts, workspaceId: actor.workspaceId })
  }

  /**
   * Changes the fields that `input` has. A key of null is replaced by a generated one.
   *
   * @param options.acceptsChanges whether results of the link's examples may change
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`, `examples_changed`
   */
  async update(
    actor: Actor,
    id: string,
    input: LinkInput,
    expected?: ExpectedVersions,
    options: { readonly acceptsChanges?: boolean } = {},
  ): Promise<Link> {
    const { random, domains, writer } = this.#deps
    if (input.key === null) {
      const withKey = (key: string) => this.update(actor, id, { ...input, key }, expected, options)
      return withGeneratedKey(random, withKey)
    }
    const prepared = await writer.prepareUpdate(actor, id, input, { expected, ...options })
    const { link, claimed } = await this.#write(async (stores) => {
      const checked = await writer.checkUpdate(stores, actor, prepared)
      return writer.update(stores, actor, prepared, checked)
    })
    if (claimed !== undefined) await domains.prove(claimed)
    return link
  }

  /**
   * Returns a link as it would be after a change, which is checked, and not stored.
   *
   * @throws {Failure} `not_found`, `validation_failed`
   */
  async draft(actor: Actor, id: string, input: DraftInput): Promise<Link> {
    const { store, writer } = this.#deps
    const changes = writer.parse(input)
    const link = { ...(await this.get(actor, id)), ...changes }
    if (changes.rule_set !== undefined && changes.rule_set !== null) {
      const set = await store.read.ruleSets.findById(actor.workspaceId, changes.rule_set)
      if (set === undefined) throw unknownRuleSet()
    }
    return link
  }

  /** @throws {Failure} `not_found`, `precondition_failed` */
  async delete(actor: Actor, id: string, expected?: ExpectedVersions): Promise<void> {
    const { store, writer } = this.#deps
    await store.write((stores) => writer.delete(stores, actor, id, expected))
  }

  /** Returns the faults of an input's fields that can be found without the database. */
  faultsOf(input: LinkInput): FieldFaults {
    return this.#deps.writer.faultsOf(input)
  }

  /** Runs a transaction that writes a link; reports a taken key as a fault of the field. */
  async #write<T>(work: (stores: LinkStores) => Promise<T>): Promise<T> {
    try {
      return await this.#deps.store.write(work)
    } catch (error) {
      throw keyFaultOf(error)
    }
  }
}

/** Links deleted in one transaction, so that other writers can go between. */
const BATCH = 100

type RemovalStores = {
  readonly links: LinkStore
  readonly changes: ChangeLog
  readonly erasures: Pick<ErasureStore, 'noteLink'>
}

/** Deletes all links of a deleted workspace, without events: no member is left to read them. */
export async function removeLinks(
  { store, clock }: { readonly store: Store<RemovalStores>; readonly clock: Clock },
  workspaceId: string,
  isCancelled: () => boolean,
): Promise<void> {
  while (!isCancelled()) {
    const first = { workspaceId, limit: BATCH, descending: false, beyond: undefined }
    const { items } = await store.read.links.run(first)
    if (items.length === 0) return
    await store.write(async (stores) => {
      for (const { id } of items) {
        const link = await stores.links.delete(workspaceId, id)
        if (link === undefined) continue
        const now = clock.nowMicros()
        await stores.erasures.noteLink(link, now)
        await appendChanges(stores, changesOf(link), now)
      }
    })
  }
}
