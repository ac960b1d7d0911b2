import type { Kysely } from 'kysely'
import { Failure } from '../platform/failure.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Schema } from '../storage/schema.ts'
import type { Store } from '../storage/store.ts'

export type ListedNode = Node & { readonly state: 'up' | 'lost' }

/** The nodes of an instance, including lost ones. */
export type Nodes = {
  /** Stores a heartbeat and returns its time, by this node's clock. */
  beat(node: Omit<Node, 'beat_at'>): Promise<number>
  list(): Promise<readonly ListedNode[]>
  /** Returns lost nodes that have not been reported yet, and marks them as reported. */
  takeLost(): Promise<readonly Node[]>
  /**
   * Deletes a node whose journal is completely ingested.
   *
   * @param beatAt its last heartbeat; a later one is from another process with the same journal,
   *   and the node is then kept
   */
  leave(id: string, beatAt?: number): Promise<void>
  /** @throws {Failure} `not_found` for a node that is not lost */
  forget(id: string): Promise<void>
}

export function nodes({
  store,
  clock,
}: {
  store: Store<{ readonly nodes: NodeStore }>
  clock: Clock
}): Nodes {
  return {
    async beat(node) {
      const beat_at = clock.nowMicros()
      await store.write(({ nodes }) => nodes.beat({ ...node, beat_at }))
      return beat_at
    },
    async list() {
      const now = clock.nowMicros()
      const listed = await store.read.nodes.list()
      return listed.map((node) => ({ ...node, state: isLost(node, now) ? 'lost' : 'up' }))
    },
    takeLost() {
      const now = clock.nowMicros()
      return store.write(({ nodes }) => nodes.takeLost(lostBefore(now), now))
    },
    async leave(id, beatAt = Number.MAX_SAFE_INTEGER - 1) {
      await store.write(({ nodes }) => nodes.forget(id, beatAt + 1))
    },
    async forget(id) {
      const before = lostBefore(clock.nowMicros())
      const forgotten = await store.write(({ nodes }) => nodes.forget(id, before))
      if (!forgotten) throw Failure.notFound(`A lost node ${id}`)
    },
  }
}

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
function lostBefore(nowMicros: number): number {
  return nowMicros - LOST_AFTER_MICROS
}

export type NodeStore = {
  /** Stores a node's state, replacing its previous one. */
  beat(node: Node): Promise<void>
  /** Returns all nodes, including lost ones, by name. */
  list(): Promise<readonly Node[]>
  /**
   * Deletes a node whose last heartbeat is before `beatBefore`; returns false when there is none. Unless a later one is
   * kept, what the node held of links' limits returns to them: its clicks are all counted, or given up.
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
      await db
        .deleteFrom('click_leases')
        .where('journal_id', '=', id)
        .where(({ not, exists, selectFrom }) =>
          not(exists(selectFrom('nodes').select('nodes.id').where('nodes.id', '=', id))),
        )
        .execute()
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
