import type { RuleInput } from '@terse/contract/rules'
import type { DomainSettingsStore } from '../../domains/index.ts'
import type { Actor, QuotaStores } from '../../identity/index.ts'
import { isUuid, type Random, uuidV7 } from '../../platform/crypto/random.ts'
import { Failure, FaultList, type FieldFaults, faultsFoundBy } from '../../platform/failure.ts'
import type { IdempotentRequest } from '../../platform/http/api/idempotency.ts'
import type { CursoredList } from '../../platform/http/api/walk.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ExpectedVersions, requireVersion, versionOf } from '../../platform/version.ts'
import { waitForAll } from '../../platform/work/async.ts'
import { type ChangeLog, ruleSetChange } from '../../storage/changes.ts'
import {
  changedFields,
  type EventFields,
  type EventWriter,
  hasChanges,
  setFields,
} from '../../storage/event-log.ts'
import { type IdempotencyStores, runIdempotent } from '../../storage/idempotency.ts'
import { timesOfWrite } from '../../storage/managed.ts'
import { type Store, UniqueViolation } from '../../storage/store.ts'
import { parseRules } from '../rules.ts'
import {
  markOfRuleSet,
  type RuleSet,
  type RuleSetMark,
  type RuleSetStore,
} from './rule-set-store.ts'

/** Sets of one workspace: they are chosen from a list, and each may take 64 KiB. */
const RULE_SETS_MAX = 200
/** Links and domains that a refusal to delete a set names, each. */
const NAMED_MAX = 10
/**
 * The made ids of rules in sets. Clicks are counted by the id of a rule, so those of a set and of the links that use it
 * must differ: 80 bits do, and the prefix tells people which are which.
 */
const IDS = { prefix: 'set-', bytes: 10 }

type RuleSetStores = IdempotencyStores &
  QuotaStores & {
    readonly ruleSets: RuleSetStore
    readonly domainSettings: Pick<DomainSettingsStore, 'hostsWithRuleSet' | 'countByRuleSet'>
    readonly changes: ChangeLog
    readonly events: EventWriter
  }

/** What is left out keeps its value. */
export type RuleSetInput = {
  readonly name?: string | undefined
  /** As the contract accepts them. */
  readonly rules?: readonly RuleInput[] | undefined
  /** The name of the set of links as code that manages it; null for none. */
  readonly managed_by?: string | null | undefined
}

/** A set, with the numbers of what uses it where they were requested. */
export type ListedRuleSet = RuleSet & {
  readonly used_by?: { readonly links: number; readonly domains: number }
}

type NewRuleSet = RuleSetInput & { readonly name: string }

type Dependencies = {
  readonly store: Store<RuleSetStores>
  readonly clock: Clock
  readonly random: Random
  /** URL schemes that destinations may have besides http and https. */
  readonly appSchemes: readonly string[]
  /** Whether visitors have cities. */
  readonly hasCities: boolean
}

/** Identifies the state of everything that a write can change, for `If-Match`. */
export function ruleSetVersion({ id, updated_at }: RuleSet): string {
  return versionOf(id, updated_at)
}

/** The operations on rule sets. Each acts within the workspace of its actor. */
export class RuleSets {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Returns the list of the workspace's sets, by name.
   *
   * @param options.withUses adds how many links and domains use each
   */
  listOf(
    { workspaceId }: Actor,
    { withUses }: { readonly withUses: boolean },
  ): CursoredList<ListedRuleSet, RuleSetMark> {
    const { ruleSets } = this.#deps.store.read
    const counted = (sets: readonly RuleSet[]) =>
      withUses ? this.#withUses(workspaceId, sets) : sets
    return {
      count: () => ruleSets.count(workspaceId),
      page: async (offset, limit) => counted(await ruleSets.page(workspaceId, offset, limit)),
      async read({ beyond, isReversed, limit }) {
        const run = { workspaceId, beyond, limit, descending: isReversed }
        const { items, rest } = await ruleSets.run(run)
        return { items: await counted(items), rest }
      },
      markOf: markOfRuleSet,
    }
  }

  /** @throws {Failure} `not_found` */
  async get(
    { workspaceId }: Actor,
    id: string,
    { withUses }: { readonly withUses: boolean },
  ): Promise<ListedRuleSet> {
    const set = await getRuleSet(this.#deps.store.read, workspaceId, id)
    if (!withUses) return set
    const [listed = set] = await this.#withUses(workspaceId, [set])
    return listed
  }

  async #withUses(workspaceId: string, sets: readonly RuleSet[]): Promise<ListedRuleSet[]> {
    const { ruleSets, domainSettings } = this.#deps.store.read
    const ids = sets.map(({ id }) => id)
    const [links, domains] = await waitForAll([
      ruleSets.countLinks(workspaceId, ids),
      domainSettings.countByRuleSet(workspaceId),
    ])
    return sets.map((set) => ({
      ...set,
      used_by: { links: links.get(set.id) ?? 0, domains: domains.get(set.id) ?? 0 },
    }))
  }

  /** Returns the workspace's set with this name in any letter case. */
  findByName({ workspaceId }: Actor, name: string): Promise<RuleSet | undefined> {
    return this.#deps.store.read.ruleSets.findByName(workspaceId, name)
  }

  /** Returns the faults of an input's rules that can be found without the database. */
  faultsOf({ rules }: RuleSetInput): FieldFaults {
    return faultsFoundBy(() => this.#parse(rules))
  }

  /**
   * Does nothing where `create` would succeed.
   *
   * @throws {Failure} `validation_failed`
   */
  async preview({ workspaceId }: Actor, { name, rules }: NewRuleSet): Promise<void> {
    this.#parse(rules)
    await refuseNew(this.#deps.store.read, workspaceId, name)
  }

  /** @throws {Failure} `validation_failed`, `idempotency_conflict` */
  create(actor: Actor, input: NewRuleSet, request?: IdempotentRequest): Promise<RuleSet> {
    const { store, clock, random } = this.#deps
    const { workspaceId } = actor
    const { name, managed_by = null } = input
    const rules = this.#parse(input.rules) ?? []
    const id = uuidV7(clock, random)
    return store.write((stores) =>
      runIdempotent(stores, workspaceId, request, clock.nowMicros(), {
        // Others that add sets to the workspace wait, so that the number is exact.
        read: () => stores.quotas.lock(workspaceId),
        write: async () => {
          await refuseNew(stores, workspaceId, name)
          const now = clock.nowMicros()
          const mark = { managed_by, isNamed: true, isChanged: true, nowMicros: now }
          const times = { created_at: now, ...timesOfWrite(undefined, mark) }
          const set = { id, workspace_id: workspaceId, name, rules, managed_by, ...times }
          await stores.ruleSets.insert(set)
          const after = setFields(fieldsOf(set))
          const event = { type: 'rule_set.created', subjectId: id, before: null, after } as const
          await stores.events.append(actor, event, now)
          return set
        },
      }),
    )
  }

  /**
   * Changes the set for all links that use it, from their next visit on.
   *
   * @throws {Failure} `not_found`, `validation_failed`, `precondition_failed`
   */
  async update(
    actor: Actor,
    id: string,
    { name, ...input }: RuleSetInput,
    expected?: ExpectedVersions,
  ): Promise<RuleSet> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    const rules = this.#parse(input.rules)
    try {
      return await store.write(async (stores) => {
        const before = await getRuleSet(stores, workspaceId, id)
        requireVersion(expected, ruleSetVersion(before))
        if (name !== undefined) await refuseTaken(stores, workspaceId, name, id)
        const managed_by = input.managed_by === undefined ? before.managed_by : input.managed_by
        const changes = { name: name ?? before.name, rules: rules ?? before.rules, managed_by }
        const changed = changedFields(fieldsOf(before), fieldsOf({ ...before, ...changes }))
        const times = timesOfWrite(before, {
          managed_by,
          isNamed: input.managed_by !== undefined,
          isChanged: hasChanges(changed),
          nowMicros: clock.nowMicros(),
        })
        const { updated_at: now } = times
        const after = { ...before, ...changes, ...times }
        await stores.ruleSets.update(after, before)
        if (now === before.updated_at) return after
        await stores.changes.append(ruleSetChange(workspaceId, id), now)
        const event = { type: 'rule_set.updated', subjectId: id, ...changed } as const
        await stores.events.append(actor, event, now)
        return after
      })
    } catch (error) {
      throw error instanceof UniqueViolation ? nameTaken() : error
    }
  }

  /** @throws {Failure} `not_found`, `precondition_failed`; `in_use` for one that links or domains use */
  async delete(actor: Actor, id: string, expected?: ExpectedVersions): Promise<void> {
    const { store, clock } = this.#deps
    const { workspaceId } = actor
    await store.write(async (stores) => {
      // Before its uses are read: a link that begins to use it waits, and finds that there is none.
      if (isUuid(id)) await stores.ruleSets.has(workspaceId, id, 'update')
      const set = await getRuleSet(stores, workspaceId, id)
      requireVersion(expected, ruleSetVersion(set))
      await refuseUsed(stores, set)
      await stores.ruleSets.delete(set)
      const now = clock.nowMicros()
      await stores.changes.append(ruleSetChange(workspaceId, id), now)
      const before = setFields(fieldsOf(set))
      const event = { type: 'rule_set.deleted', subjectId: id, before, after: null } as const
      await stores.events.append(actor, event, now)
    })
  }

  /** @throws {Failure} `validation_failed` naming every field that is wrong */
  #parse(input: readonly RuleInput[] | undefined): RuleSet['rules'] | undefined {
    if (input === undefined) return undefined
    const { appSchemes, hasCities, random } = this.#deps
    const faults = new FaultList()
    const rules = parseRules(input, { appSchemes, hasCities, random, ids: IDS }, faults)
    faults.throwIfAny()
    return rules
  }
}

type FoundStores = Pick<RuleSetStores, 'ruleSets'>

/** @throws {Failure} `validation_failed` */
async function refuseNew(stores: FoundStores, workspaceId: string, name: string): Promise<void> {
  await refuseTaken(stores, workspaceId, name)
  if ((await stores.ruleSets.count(workspaceId)) < RULE_SETS_MAX) return
  throw Failure.invalid({
    name: [{ code: 'limit_reached', reason: 'rule_sets', max: RULE_SETS_MAX }],
  })
}

async function getRuleSet(stores: FoundStores, workspaceId: string, id: string): Promise<RuleSet> {
  const found = isUuid(id) ? await stores.ruleSets.findById(workspaceId, id) : undefined
  if (found === undefined) throw Failure.notFound('Rule set')
  return found
}

/** @param ownId the set that may have the name */
async function refuseTaken(
  stores: FoundStores,
  workspaceId: string,
  name: string,
  ownId?: string,
): Promise<void> {
  const found = await stores.ruleSets.findByName(workspaceId, name)
  if (found !== undefined && found.id !== ownId) throw nameTaken()
}

function nameTaken(): Failure {
  return Failure.invalid({ name: [{ code: 'taken', reason: 'rule_set' }] })
}

/** @throws {Failure} `in_use` */
async function refuseUsed(stores: RuleSetStores, { id, workspace_id }: RuleSet): Promise<void> {
  const uses = await stores.ruleSets.findUses(workspace_id, id, NAMED_MAX)
  const domains = await stores.domainSettings.hostsWithRuleSet(workspace_id, id, NAMED_MAX)
  const hasLinks = uses.linkCount > 0
  if (!hasLinks && domains.length === 0) return
  const links = uses.links.map(({ domain, key }) => `${domain}/${key}`)
  const reason = hasLinks ? (domains.length > 0 ? 'both' : 'links') : 'domains'
  const details = {
    code: 'rule_set_in_use',
    reason,
    count: uses.linkCount,
    links,
    domains,
  } as const
  throw Failure.inUse(details)
}

function fieldsOf({ name, rules, managed_by }: RuleSet): EventFields {
  return { name, rules, managed_by }
}
