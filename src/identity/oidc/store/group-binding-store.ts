import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

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
