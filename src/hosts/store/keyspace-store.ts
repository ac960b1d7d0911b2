import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { statement } from '../../storage/statement.ts'
import { StaleRow } from '../../storage/store.ts'

/**
 * A keyspace is the set of links in which a key is unique. There is one for each host that a
 * workspace has ever claimed, and one for the service's own host, which all workspaces share. A
 * keyspace outlives its claim: links are kept when a domain is deleted and work again when it is
 * added again.
 */
export type KeyspaceStore = {
  find(workspaceId: string, host: string): Promise<number | undefined>
  /** Returns the keyspace's id, creating the keyspace if needed. */
  open(workspaceId: string, host: string): Promise<number>
  /**
   * Moves a keyspace with its links to another host.
   *
   * @throws {UniqueViolation} when the workspace already has a keyspace on that host
   */
  rename(workspaceId: string, from: string, to: string): Promise<void>
  /** Deletes a keyspace if it has no links. */
  deleteIfEmpty(workspaceId: string, host: string): Promise<void>
  /**
   * Returns the shared keyspace, creating it if needed, and moves it to `host` if it is on another
   * host.
   */
  openShared(host: string): Promise<{ readonly id: number; readonly movedFrom: string | undefined }>
}

const findOwn = statement((db, owner: { workspaceId: string; host: string }) =>
  db
    .selectFrom('keyspaces')
    .select('id')
    .where('workspace_id', '=', owner.workspaceId)
    .where('host', '=', owner.host),
)

export function keyspaceStore(db: Kysely<Schema>): KeyspaceStore {
  async function find(workspaceId: string, host: string): Promise<number | undefined> {
    const { rows } = await findOwn(db, { workspaceId, host })
    return rows[0]?.id
  }

  function findShared() {
    return db
      .selectFrom('keyspaces')
      .select(['id', 'host'])
      .where('workspace_id', 'is', null)
      .executeTakeFirst()
  }

  return {
    find,

    async open(workspaceId, host) {
      const existing = await find(workspaceId, host)
      if (existing !== undefined) return existing
      const inserted = await db
        .insertInto('keyspaces')
        .values({ workspace_id: workspaceId, host })
        .onConflict((conflict) => conflict.columns(['workspace_id', 'host']).doNothing())
        .returning('id')
        .executeTakeFirst()
      if (inserted === undefined) throw new StaleRow()
      return inserted.id
    },

    async rename(workspaceId, from, to) {
      await db
        .updateTable('keyspaces')
        .set({ host: to })
        .where('workspace_id', '=', workspaceId)
        .where('host', '=', from)
        .execute()
    },

    async deleteIfEmpty(workspaceId, host) {
      const id = await find(workspaceId, host)
      if (id === undefined) return
      const link = await db
        .selectFrom('links')
        .select('seq')
        .where('keyspace_id', '=', id)
        .limit(1)
        .executeTakeFirst()
      if (link !== undefined) return
      // A link created concurrently refers to the keyspace, so the foreign key prevents the
      // deletion.
      await db.deleteFrom('keyspaces').where('id', '=', id).execute()
    },

    async openShared(host) {
      const existing = await findShared()
      if (existing !== undefined) {
        if (existing.host === host) return { id: existing.id, movedFrom: undefined }
        await db.updateTable('keyspaces').set({ host }).where('id', '=', existing.id).execute()
        return { id: existing.id, movedFrom: existing.host }
      }
      const inserted = await db
        .insertInto('keyspaces')
        .values({ workspace_id: null, host })
        .onConflict((conflict) => conflict.doNothing())
        .returning('id')
        .executeTakeFirst()
      if (inserted === undefined) throw new StaleRow()
      return { id: inserted.id, movedFrom: undefined }
    },
  }
}
