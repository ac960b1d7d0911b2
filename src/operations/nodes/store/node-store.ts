import type { Kysely } from 'kysely'
import type { Schema } from '../../../storage/schema.ts'

/** A serving process, identified by its click journal, or a journal that outlived its process. */
export type Node = {
  /** The journal's id. */
  readonly id: string
  /** The machine's name, for display. */
  readonly name: string
  /** The process's number on the machine, from 1. */
  readonly process: number
  /** The program's version. */
  readonly version: string
  /** Microseconds since the epoch. */
  readonly started_at: number
  /** The last heartbeat, in microseconds since the epoch, by the node's own clock. */
  readonly beat_at: number
  /** The size of the journal's part that was not ingested at the last heartbeat. */
  readonly backlog_bytes: number
  /** The time of the oldest click that is not ingested, in microseconds since the epoch. */
  readonly oldest_click_at: number | null
  /** The address of a proxy in front of it that TERSE_TRUST_PROXY does not name; null where none was seen. */
  readonly untrusted_proxy: string | null
}

/** The heartbeat interval. */
export const BEAT_INTERVAL_MS = 20_000

/**
 * A node without a heartbeat for this long is lost: it crashed, its machine failed, or it cannot
 * reach the database.
 */
export const LOST_AFTER_MICROS = 90 * 1_000_000

export function isLost(node: Node, nowMicros: number): boolean {
  return node.beat_at < lostBefore(nowMicros)
}

/** Returns the time before which a node's last heartbeat means that it is lost. */
export function lostBefore(nowMicros: number): number {
  return nowMicros - LOST_AFTER_MICROS
}

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
