import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { Node } from '../node.ts'

export type NodeStore = {
  /** Keeps what a node says of itself, in the place of what it said before. */
  beat(node: Node): Promise<void>
  /** All that are there or were lost, by name. */
  list(): Promise<readonly Node[]>
  /** Forgets a node that was last heard of before `beatBefore`. False where there is none. */
  forget(id: string, beatBefore: number): Promise<boolean>
  /**
   * The nodes last heard of before `beatBefore`, each told to one caller alone, until it is heard of
   * again.
   */
  takeLost(beatBefore: number, nowMicros: number): Promise<readonly Node[]>
}

/** All but when somebody was told that it is lost, which is nobody's concern outside. */
const COLUMNS = [
  'id',
  'name',
  'process',
  'version',
  'started_at',
  'beat_at',
  'backlog_bytes',
  'oldest_click_at',
] as const

export function nodeStore(db: Kysely<Schema>): NodeStore {
  return {
    async beat({ id, ...said }) {
      const values = { ...said, reported_at: null }
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
