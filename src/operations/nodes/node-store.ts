import type { Node } from './node.ts'

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
