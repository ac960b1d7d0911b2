import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { Workspace } from '../workspace.ts'

export type WorkspaceStore = {
  findByName(name: string): Promise<Workspace | undefined>
  /** Returns false when the name is taken. */
  insert(workspace: Workspace): Promise<boolean>
  /** Returns all workspaces, oldest first. */
  list(): Promise<readonly Workspace[]>
}

const COLUMNS = ['id', 'name', 'created_at'] as const

export function workspaceStore(db: Kysely<Schema>): WorkspaceStore {
  return {
    findByName: (name) =>
      db.selectFrom('workspaces').select(COLUMNS).where('name', '=', name).executeTakeFirst(),
    async insert(workspace) {
      const inserted = await db
        .insertInto('workspaces')
        .values(workspace)
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('id')
        .executeTakeFirst()
      return inserted !== undefined
    },
    list: () => db.selectFrom('workspaces').select(COLUMNS).orderBy('created_at').execute(),
  }
}
