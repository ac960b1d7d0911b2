/** Found again at each refresh, because the clocks of the nodes that write rows differ. */
const OVERLAP_MICROS = 10_000_000
/** How often everything that is due is looked at, for example rows whose lease ended with its node. */
const SWEEP_MICROS = 30_000_000
/** Owners that have their turn in one transaction. */
const OWNERS_MAX = 64

/**
 * Which owners have rows that are due, in the order of their turns. Each row is looked at when it
 * becomes due and then at each sweep, never at each poll, so that an owner with 100,000 due rows does
 * not slow the polls down. Each node has its own order: which rows it gets is settled by the lease.
 */
export class DueTurns {
  readonly #findOwners: (from: number, to: number) => Promise<readonly string[]>
  readonly #owners = new Set<string>()
  #seenUntil = 0
  #sweptAt = Number.NEGATIVE_INFINITY

  /** @param findOwners the owners of rows that became due from one instant to another, both included */
  constructor(findOwners: (from: number, to: number) => Promise<readonly string[]>) {
    this.#findOwners = findOwners
  }

  /** Adds the owners of rows that have become due. Times are microseconds since the epoch. */
  async refresh(nowMicros: number): Promise<void> {
    const isSweep = Math.abs(nowMicros - this.#sweptAt) >= SWEEP_MICROS
    const from = isSweep ? 0 : Math.min(this.#seenUntil, nowMicros) - OVERLAP_MICROS
    for (const owner of await this.#findOwners(from, nowMicros)) this.#owners.add(owner)
    if (isSweep) this.#sweptAt = nowMicros
    this.#seenUntil = nowMicros
  }

  /** Those whose turn is next. */
  next(): readonly string[] {
    return [...this.#owners.values().take(OWNERS_MAX)]
  }

  /**
   * Moves on after a turn.
   *
   * @param served go to the end of the line
   * @param idle had nothing due, and leave the line
   */
  settle(served: Iterable<string>, idle: Iterable<string>): void {
    for (const owner of served) {
      if (this.#owners.delete(owner)) this.#owners.add(owner)
    }
    for (const owner of idle) this.#owners.delete(owner)
  }
}
