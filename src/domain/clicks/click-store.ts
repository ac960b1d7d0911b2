import type { Click } from './click.ts'

/** A place in a node's click journal: everything before it has been taken in. */
export type JournalPosition = {
  readonly segment: number
  readonly offset: number
}

export type ClickStore = {
  /** Undefined for a journal from which nothing has been taken in. */
  findPosition(journalId: string): Promise<JournalPosition | undefined>
  /**
   * Moves a journal's position. False when it no longer stands at `from`: then another process has
   * taken the same records in, and the unit must be undone.
   */
  movePosition(
    journalId: string,
    from: JournalPosition | undefined,
    to: JournalPosition,
    atMicros: number,
  ): Promise<boolean>
  /** Keeps the clicks and adds those of people to their links' counters. */
  insert(clicks: readonly Click[]): Promise<void>
  /** How many clicks are kept, by flags; for one link. */
  countByFlags(linkSeq: number): Promise<ReadonlyMap<number, number>>
}
