import type { Rule } from '@terse/contract/rules'
import type { Kysely, Selectable } from 'kysely'
import type { DomainSettingsStore, DomainStore } from '../../domains/index.ts'
import type { Run } from '../../platform/http/api/pagination.ts'
import type { Managed } from '../../storage/managed.ts'
import type { Schema } from '../../storage/schema.ts'
import { type LockName, type RowLock, StaleRow } from '../../storage/store.ts'
import { foldKey } from '../key.ts'
import type { Link } from '../link.ts'

/** Rules with a name, which links and domains of the workspace use. */
export type RuleSet = Managed & {
  readonly id: string
  readonly workspace_id: string
  readonly name: string
  /** In their order. */
  readonly rules: readonly Rule[]
  /** Microseconds since the epoch. */
  readonly created_at: number
  /** Microseconds since the epoch; rises with every update. */
  readonly updated_at: number
}

/** A position in the order of names. */
export type RuleSetMark = string

type RuleSetRun = {
  readonly workspaceId: string
  readonly limit: number
  readonly descending: boolean
  readonly beyond: RuleSetMark | undefined
}

/** What uses a rule set. */
type RuleSetUses = {
  /** The oldest of the links. */
  readonly links: readonly Pick<Link, 'domain' | 'key'>[]
  readonly linkCount: number
}

export type RuleSetStore = {
  /** In the order of their names, whatever their letter case. */
  page(workspaceId: string, offset: number, limit: number): Promise<readonly RuleSet[]>
  run(run: RuleSetRun): Promise<Run<RuleSet, RuleSetMark>>
  count(workspaceId: string): Promise<number>
  findById(workspaceId: string, id: string): Promise<RuleSet | undefined>
  /** The set with this name in any letter case. */
  findByName(workspaceId: string, name: string): Promise<RuleSet | undefined>
  /**
   * Whether the workspace has the set.
   *
   * @param rowLock keeps it until the end of the transaction: with `share` from a deletion, with `update` from links that
   *   begin to use it
   */
  has(workspaceId: string, id: string, rowLock?: RowLock): Promise<boolean>
  /** @param limit of the links that are named */
  findUses(workspaceId: string, id: string, limit: number): Promise<RuleSetUses>
  /** Returns how many links use each of the sets; nothing for sets that none uses. */
  countLinks(workspaceId: string, ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Makes the transaction run again when another one has inserted the name first. */
  insert(set: RuleSet): Promise<void>
  /** @throws {StaleRow} when it was changed since it was read as `before` */
  update(set: RuleSet, before: RuleSet): Promise<void>
  /** @throws {StaleRow} when it was changed since it was read */
  delete(set: RuleSet): Promise<void>
}

/** Returns the sets that are tried behind the rules of a link itself: its own, then that of its domain. */
export async function findSetsOf(
  {
    ruleSets,
    domains,
    domainSettings,
  }: {
    readonly ruleSets: Pick<RuleSetStore, 'findById'>
    readonly domains: Pick<DomainStore, 'findByHost'>
    readonly domainSettings: Pick<DomainSettingsStore, 'find'>
  },
  { workspace_id, domain: host, rule_set }: Pick<Link, 'workspace_id' | 'domain' | 'rule_set'>,
): Promise<readonly RuleSet[]> {
  const domain = await domains.findByHost(workspace_id, host)
  const settings = domain && (await domainSettings.find(domain.id))
  const sets: RuleSet[] = []
  for (const id of new Set([rule_set, settings?.rule_set ?? null])) {
    const set = id === null ? undefined : await ruleSets.findById(workspace_id, id)
    if (set !== undefined) sets.push(set)
  }
  return sets
}

export function markOfRuleSet({ name }: RuleSet): RuleSetMark {
  return foldKey(name)
}

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function ruleSetStore(db: Kysely<Schema>, lockName: LockName | undefined): RuleSetStore {
  const select = (workspaceId: string) =>
    db.selectFrom('rule_sets').selectAll().where('workspace_id', '=', workspaceId)

  return {
    ...ruleSetWrites(db),

    async page(workspaceId, offset, limit) {
      const sorted = select(workspaceId).orderBy('name_folded').limit(limit).offset(offset)
      return (await sorted.execute()).map(fromRow)
    },

    async run({ workspaceId, limit, descending, beyond }) {
      const [direction, side] = descending ? (['desc', '<'] as const) : (['asc', '>'] as const)
      const rows = await select(workspaceId)
        .$if(beyond !== undefined, (query) => query.where('name_folded', side, beyond ?? ''))
        .orderBy('name_folded', direction)
        .limit(limit + 1)
        .execute()
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      return { items: items.map(fromRow), rest: last?.name_folded }
    },

    async count(workspaceId) {
      const row = await db
        .selectFrom('rule_sets')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return Number(row.count)
    },

    async findById(workspaceId, id) {
      const row = await select(workspaceId).where('id', '=', id).executeTakeFirst()
      return row && fromRow(row)
    },

    async findByName(workspaceId, name) {
      const row = await select(workspaceId)
        .where('name_folded', '=', foldKey(name))
        .executeTakeFirst()
      return row && fromRow(row)
    },

    async has(workspaceId, id, rowLock) {
      const found = await db
        .selectFrom('rule_sets')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('id', '=', id)
        .$if(lockName !== undefined && rowLock === 'share', (query) => query.forShare())
        .$if(lockName !== undefined && rowLock === 'update', (query) => query.forUpdate())
        .executeTakeFirst()
      return found !== undefined
    },

    findUses: (workspaceId, id, limit) => findUses(db, { workspaceId, id, limit }),

    async countLinks(workspaceId, ids) {
      if (ids.length === 0) return new Map()
      const rows = await db
        .selectFrom('links')
        .select((eb) => ['rule_set', eb.fn.countAll<number>().as('count')])
        .where('workspace_id', '=', workspaceId)
        .where('rule_set', 'in', ids)
        .groupBy('rule_set')
        .execute()
      return new Map(rows.map(({ rule_set, count }) => [rule_set ?? '', Number(count)]))
    },
  }
}

function ruleSetWrites(db: Kysely<Schema>): Pick<RuleSetStore, 'insert' | 'update' | 'delete'> {
  return {
    async insert(set) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('rule_sets')
        .values(toRow(set))
        .onConflict((conflict) => conflict.columns(['workspace_id', 'name_folded']).doNothing())
        .executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows === 0n) throw new StaleRow()
    },

    async update(set, before) {
      const { id, workspace_id, created_at, ...values } = toRow(set)
      const { numUpdatedRows } = await db
        .updateTable('rule_sets')
        .set(values)
        .where('workspace_id', '=', before.workspace_id)
        .where('id', '=', before.id)
        .where('updated_at', '=', before.updated_at)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) throw new StaleRow()
    },

    async delete({ id, workspace_id, updated_at }) {
      const { numDeletedRows } = await db
        .deleteFrom('rule_sets')
        .where('workspace_id', '=', workspace_id)
        .where('id', '=', id)
        .where('updated_at', '=', updated_at)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw new StaleRow()
    },
  }
}

async function findUses(
  db: Kysely<Schema>,
  { workspaceId, id, limit }: { workspaceId: string; id: string; limit: number },
): Promise<RuleSetUses> {
  const using = () =>
    db
      .selectFrom('links')
      .where('links.workspace_id', '=', workspaceId)
      .where('links.rule_set', '=', id)
  const counted = await using()
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const links = await using()
    .innerJoin('keyspaces', 'keyspaces.id', 'links.keyspace_id')
    .select(['keyspaces.host as domain', 'links.key'])
    .orderBy('links.seq')
    .limit(limit)
    .execute()
  return { links, linkCount: Number(counted.count) }
}

function toRow({ rules, ...set }: RuleSet) {
  return { ...set, name_folded: foldKey(set.name), rules: JSON.stringify(rules) }
}

function fromRow({ name_folded, rules, ...set }: Selectable<Schema['rule_sets']>): RuleSet {
  return { ...set, rules: JSON.parse(rules) }
}
