import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { LockName } from '../../../platform/database/store.ts'
import type { Workspace } from '../workspace.ts'

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
