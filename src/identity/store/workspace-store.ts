import { type Kysely, sql } from 'kysely'
import { waitForAll } from '../../platform/work/async.ts'
import type { Schema } from '../../storage/schema.ts'
import type { LockName } from '../../storage/store.ts'
import type { WriteBuffer } from '../../storage/write-buffer.ts'
import { QUOTA_NAMES, type QuotaOverrides, type Usage } from '../quotas/quota.ts'
import type { Workspace } from '../workspaces/workspace.ts'

/** A deleted workspace, and when it was deleted, in microseconds since the epoch. */
type DeletedWorkspace = { readonly id: string; readonly deletedAt: number }

export type WorkspaceChanges = { readonly name?: string; readonly title?: string | null }

/** Workspaces that are not deleted, unless a method says otherwise. */
export type WorkspaceStore = {
  findByName(name: string): Promise<Workspace | undefined>
  findById(id: string): Promise<Workspace | undefined>
  /** Returns false when the name is taken. */
  insert(workspace: Workspace): Promise<boolean>
  /** Returns all workspaces, oldest first. */
  list(): Promise<readonly Workspace[]>
  /** Makes other transactions that change names wait until this one ends. */
  lockNames(): Promise<void>
  /** @param changes.title null for that of the name */
  change(id: string, changes: WorkspaceChanges): Promise<void>
  /** Marks it as deleted and frees its name. */
  markDeleted(id: string, atMicros: number): Promise<void>
  /** Returns the deleted workspaces whose links and domains may not all be deleted yet, oldest first. */
  listUnremoved(): Promise<readonly DeletedWorkspace[]>
  /** Notes that nothing of a deleted workspace is left to be removed. */
  markRemoved(id: string, atMicros: number): Promise<void>
}

const COLUMNS = ['id', 'name', 'created_at'] as const

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function workspaceStore(db: Kysely<Schema>, lockName: LockName | undefined): WorkspaceStore {
  const existing = () =>
    db
      .selectFrom('workspaces')
      .select(COLUMNS)
      .select(({ fn }) => fn.coalesce('title', 'name').as('title'))
      .where('deleted_at', 'is', null)

  return {
    findByName: (name) => existing().where('name', '=', name).executeTakeFirst(),
    findById: (id) => existing().where('id', '=', id).executeTakeFirst(),
    async insert(workspace) {
      const inserted = await db
        .insertInto('workspaces')
        .values({ ...workspace, title: titleBeside(workspace) })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },
    list: () => existing().orderBy('created_at').execute(),
    async lockNames() {
      if (lockName !== undefined) await db.executeQuery(lockName(db, 'workspace names'))
    },
    async change(id, changes) {
      await db.updateTable('workspaces').set(changes).where('id', '=', id).execute()
    },
    async markDeleted(id, atMicros) {
      await db
        .updateTable('workspaces')
        // No workspace can be given this name: it has a colon.
        .set({ deleted_at: atMicros, name: `deleted:${id}`, title: null })
        .where('id', '=', id)
        .execute()
    },
    listUnremoved: () =>
      db
        .selectFrom('workspaces')
        .select(['id', 'deleted_at as deletedAt'])
        .$narrowType<{ deletedAt: number }>()
        .where('deleted_at', 'is not', null)
        .where('removed_at', 'is', null)
        .orderBy('deleted_at')
        .execute(),
    async markRemoved(id, atMicros) {
      await db
        .updateTable('workspaces')
        .set({ removed_at: atMicros })
        .where('id', '=', id)
        .execute()
    },
  }
}

/** What is the same as the name follows it when that changes. */
function titleBeside({ name, title }: Workspace): string | null {
  return title === name ? null : title
}

/** Which workspace a name in TERSE_OIDC_ROLES means; null where that workspace was deleted. */
type GroupBinding = Schema['group_bindings']

export type GroupBindingStore = {
  find(name: string): Promise<GroupBinding | undefined>
  /** The names that are bound to a workspace, in their order. */
  namesOf(workspaceId: string): Promise<readonly string[]>
  /** Binds a name that is not bound yet. Returns the workspace to which it is bound then. */
  bindFirst(name: string, workspaceId: string, atMicros: number): Promise<string | null>
  /** Binds a name, whatever it was bound to before. */
  bind(name: string, workspaceId: string, atMicros: number): Promise<void>
  /** Leaves the names of a deleted workspace bound to none, so that no other one takes its place. */
  release(workspaceId: string): Promise<void>
}

export function groupBindingStore(db: Kysely<Schema>): GroupBindingStore {
  const find = (name: string) =>
    db.selectFrom('group_bindings').selectAll().where('name', '=', name).executeTakeFirst()

  return {
    find,
    async namesOf(workspaceId) {
      const rows = await db
        .selectFrom('group_bindings')
        .select('name')
        .where('workspace_id', '=', workspaceId)
        .orderBy('name')
        .execute()
      return rows.map(({ name }) => name)
    },
    async bindFirst(name, workspaceId, atMicros) {
      await db
        .insertInto('group_bindings')
        .values({ name, workspace_id: workspaceId, bound_at: atMicros })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute()
      return (await find(name))?.workspace_id ?? null
    },
    async bind(name, workspaceId, atMicros) {
      const bound = { workspace_id: workspaceId, bound_at: atMicros }
      await db
        .insertInto('group_bindings')
        .values({ name, ...bound })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(bound))
        .execute()
    },
    async release(workspaceId) {
      await db
        .updateTable('group_bindings')
        .set({ workspace_id: null })
        .where('workspace_id', '=', workspaceId)
        .execute()
    },
  }
}

export type QuotaStore = {
  /** Returns undefined for a workspace without limits of its own. */
  find(workspaceId: string): Promise<QuotaOverrides | undefined>
  /** Returns all workspaces' own limits, by workspace id. */
  list(): Promise<ReadonlyMap<string, QuotaOverrides>>
  set(workspaceId: string, overrides: QuotaOverrides): Promise<void>
  /**
   * Locks the workspace's quotas until the transaction ends; other transactions that lock them
   * wait.
   */
  lock(workspaceId: string): Promise<void>
  /** Sums one row for each range of 1,024 link numbers. */
  countLinks(workspaceId: string): Promise<Pick<Usage, 'links' | 'storage_bytes'>>
  /** Reads each of the workspace's domains. */
  countDomains(workspaceId: string): Promise<Pick<Usage, 'domains' | 'pending_domains'>>
  /** Reads one row. */
  countConversions(workspaceId: string): Promise<Pick<Usage, 'conversions'>>
}

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function quotaStore(
  db: Kysely<Schema>,
  writes: WriteBuffer,
  lockName: LockName | undefined,
): QuotaStore {
  return {
    find: (workspaceId) =>
      db
        .selectFrom('workspace_quotas')
        .select(QUOTA_NAMES)
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst(),

    async list() {
      const rows = await db.selectFrom('workspace_quotas').selectAll().execute()
      return new Map(rows.map(({ workspace_id, ...overrides }) => [workspace_id, overrides]))
    },

    async set(workspaceId, overrides) {
      await db
        .insertInto('workspace_quotas')
        .values({ workspace_id: workspaceId, ...overrides })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(overrides))
        .execute()
    },

    async lock(workspaceId) {
      if (lockName !== undefined) await db.executeQuery(lockName(db, `quotas ${workspaceId}`))
    },

    async countLinks(workspaceId) {
      await writes.flush()
      const counted = db
        .selectFrom('link_buckets')
        .select([
          sql<number | null>`cast(sum(links) as bigint)`.as('links'),
          sql<number | null>`cast(sum(bytes) as bigint)`.as('bytes'),
        ])
        .where('workspace_id', '=', workspaceId)
      const pictures = db
        .selectFrom('images')
        .select(sql<number | null>`cast(sum(bytes) as bigint)`.as('bytes'))
        .where('workspace_id', '=', workspaceId)
      // At once: each create waits for this.
      const [row, images] = await waitForAll([
        counted.executeTakeFirst(),
        pictures.executeTakeFirst(),
      ])
      // Nodes of an older release add no bytes but their links are subtracted, so the sum may be
      // negative.
      return {
        links: row?.links ?? 0,
        storage_bytes: Math.max(0, row?.bytes ?? 0) + (images?.bytes ?? 0),
      }
    },

    async countDomains(workspaceId) {
      const row = await db
        .selectFrom('domains')
        .select((eb) => [
          eb.fn.countAll<number>().as('domains'),
          sql<
            number | null
          >`cast(sum(case when status = 'pending' then 1 else 0 end) as bigint)`.as('pending'),
        ])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return { domains: row.domains, pending_domains: row.pending ?? 0 }
    },

    async countConversions(workspaceId) {
      const row = await db
        .selectFrom('conversion_counts')
        .select('conversions')
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      return { conversions: row?.conversions ?? 0 }
    },
  }
}
