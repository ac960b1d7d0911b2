import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { isLost, lostBefore, type Node } from './node.ts'
import type { NodeStore } from './store/node-store.ts'

type ListedNode = Node & { readonly state: 'up' | 'lost' }

/** The nodes of an instance, those that were lost with them. */
export type Nodes = {
  /** Returns when that was, by this node's clock. */
  beat(node: Omit<Node, 'beat_at'>): Promise<number>
  list(): Promise<readonly ListedNode[]>
  /** Nodes that have been lost and that nobody was told of yet. */
  takeLost(): Promise<readonly Node[]>
  /**
   * Says that the node has nothing left to give.
   *
   * @param beatAt its last beat: one that was heard of since is another process with the same journal
   */
  leave(id: string, beatAt?: number): Promise<void>
  /** @throws {Failure} `not_found` for one that is not lost */
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
