/** Each refresh reads this far back again, because the clocks of the nodes that write rows differ. */
const OVERLAP_MICROS = 10_000_000
/** Interval of full scans, which also find rows whose lease expired because its node crashed. */
const FULL_SCAN_MICROS = 30_000_000
/** Owners served in one transaction. */
const OWNERS_MAX = 64

/**
 * A round-robin queue of the owners that have due rows. A row is read when it becomes due and at each full
 * scan, not at each poll, so an owner with 100,000 due rows does not slow down polling. Each node keeps
 * its own order; leases decide which node gets which row.
 */
export class DueOwners {
  readonly #findOwners: (from: number, to: number) => Promise<readonly string[]>
  readonly #owners = new Set<string>()
  #readUntil = 0
  #scannedAt = Number.NEGATIVE_INFINITY

  /** @param findOwners returns the owners of rows that became due between two instants, both included */
  constructor(findOwners: (from: number, to: number) => Promise<readonly string[]>) {
    this.#findOwners = findOwners
  }

  /** Adds the owners of rows that became due since the last call. Times are microseconds since the epoch. */
  async refresh(nowMicros: number): Promise<void> {
    const isFullScan = Math.abs(nowMicros - this.#scannedAt) >= FULL_SCAN_MICROS
    const from = isFullScan ? 0 : Math.min(this.#readUntil, nowMicros) - OVERLAP_MICROS
    for (const owner of await this.#findOwners(from, nowMicros)) this.#owners.add(owner)
    if (isFullScan) this.#scannedAt = nowMicros
    this.#readUntil = nowMicros
  }

  /** Returns the owners to serve next, at most 64. */
  next(): readonly string[] {
    return [...this.#owners.values().take(OWNERS_MAX)]
  }

  /**
   * Updates the queue after owners were served.
   *
   * @param served owners that move to the end of the queue
   * @param idle owners that had nothing due and leave the queue
   */
  settle(served: Iterable<string>, idle: Iterable<string>): void {
    for (const owner of served) {
      if (this.#owners.delete(owner)) this.#owners.add(owner)
    }
    for (const owner of idle) this.#owners.delete(owner)
  }
}
