import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { Node } from '../node.ts'

export type NodeStore = {
  /** Stores a node's state, replacing its previous one. */
  beat(node: Node): Promise<void>
  /** Returns all nodes, including lost ones, by name. */
  list(): Promise<readonly Node[]>
  /**
   * Deletes a node whose last heartbeat is before `beatBefore`; returns false when there is none.
   */
  forget(id: string, beatBefore: number): Promise<boolean>
  /**
   * Returns the nodes whose last heartbeat is before `beatBefore` and marks them as reported. Each
   * lost node is returned to one caller only, until its next heartbeat.
   */
  takeLost(beatBefore: number, nowMicros: number): Promise<readonly Node[]>
}

/** All columns but `reported_at`, which is internal to this store. */
const COLUMNS = [
  'id',
  'name',
  'process',
  'version',
  'started_at',
  'beat_at',
  'backlog_bytes',
  'oldest_click_at',
  'untrusted_proxy',
] as const

export function nodeStore(db: Kysely<Schema>): NodeStore {
  return {
    async beat({ id, ...state }) {
      const values = { ...state, reported_at: null }
      await db
        .insertInto('nodes')
        .values({ id, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute()
    },

    list: () =>
      db
        .selectFrom('nodes')
        .select(COLUMNS)
        .orderBy('name')
        .orderBy('process')
        .orderBy('id')
        .execute(),

    async forget(id, beatBefore) {
      const result = await db
        .deleteFrom('nodes')
        .where('id', '=', id)
        .where('beat_at', '<', beatBefore)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },

    takeLost: (beatBefore, nowMicros) =>
      db
        .updateTable('nodes')
        .set({ reported_at: nowMicros })
        .where('beat_at', '<', beatBefore)
        .where('reported_at', 'is', null)
        .returning(COLUMNS)
        .execute(),
  }
}
