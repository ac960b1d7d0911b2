import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Store } from '../../storage/store.ts'
import { isLost, lostBefore, type Node, type NodeStore } from './store/node-store.ts'

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
