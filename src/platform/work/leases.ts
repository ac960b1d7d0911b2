/** Each refresh reads this far back again, because the clocks of the nodes that write rows differ. */
const OVERLAP_MICROS = 10_000_000
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
  readonly #fullScanMicros: number
  readonly #owners = new Set<string>()
  #readUntil = 0
  #scannedAt = Number.NEGATIVE_INFINITY

  /**
   * @param findOwners returns the owners of rows that became due between two instants, both included
   * @param fullScanMicros interval of full scans, which also find rows whose lease expired because its node crashed
   */
  constructor(
    findOwners: (from: number, to: number) => Promise<readonly string[]>,
    fullScanMicros = FULL_SCAN_MICROS,
  ) {
    this.#findOwners = findOwners
    this.#fullScanMicros = fullScanMicros
  }

  /** Adds the owners of rows that became due since the last call. Times are microseconds since the epoch. */
  async refresh(nowMicros: number): Promise<void> {
    const isFullScan = Math.abs(nowMicros - this.#scannedAt) >= this.#fullScanMicros
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

/** A leased job of a workspace. */
type Lease = { readonly workspaceId: string }

/** Runs leased jobs, with a limit per process and a limit per workspace. */
export class LeaseRunner<L extends Lease> {
  readonly #options: LeaseRunnerOptions<L>
  readonly #running = new Map<L, Promise<void>>()

  constructor(options: LeaseRunnerOptions<L>) {
    this.#options = options
  }

  /** The leases of running jobs. */
  get leases(): Iterable<L> {
    return this.#running.keys()
  }

  /** How many more jobs may start now. */
  get freeSlots(): number {
    return this.#options.concurrency - this.#running.size
  }

  /** How many more jobs of one workspace may start now. */
  freeSlotsOf(workspaceId: string): number {
    let left = this.#options.concurrencyPerWorkspace
    for (const lease of this.#running.keys()) if (lease.workspaceId === workspaceId) left -= 1
    return left
  }

  start(lease: L): void {
    const running = this.#options.run(lease).finally(() => {
      this.#running.delete(lease)
      this.#options.onSlotFree()
    })
    this.#running.set(lease, running)
  }

  /** Resolves when no job is running. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }
}

type LeaseRunnerOptions<L extends Lease> = {
  readonly concurrency: number
  readonly concurrencyPerWorkspace: number
  /** Must not reject. */
  readonly run: (lease: L) => Promise<void>
  /** Called whenever a job has ended. */
  readonly onSlotFree: () => void
}

/** The leased rows, and the workspaces that had nothing due. */
type RoundRobinLeases<Lease> = {
  readonly leases: readonly Lease[]
  readonly idle: readonly string[]
}

/**
 * Leases up to `limit` rows round robin: one row of each workspace per round, until `limit` is
 * reached or no row is left.
 *
 * @param options.shares the maximum number of rows for each workspace, in round-robin order
 * @param options.find returns a workspace's due rows in order, at most `count`
 * @param options.take leases a row; returns undefined when another node leased it first
 */
export async function leaseRoundRobin<Row, Lease>(options: {
  readonly shares: ReadonlyMap<string, number>
  readonly limit: number
  readonly find: (workspaceId: string, count: number) => Promise<readonly Row[]>
  readonly take: (row: Row) => Promise<Lease | undefined>
}): Promise<RoundRobinLeases<Lease>> {
  const { shares, limit } = options
  const queues: (readonly Row[])[] = []
  const idle: string[] = []
  for (const [workspaceId, share] of shares) {
    // Each queue contributes a row in the first round, so further queues would contribute none.
    if (queues.length >= limit) break
    const rows = await options.find(workspaceId, Math.min(share, limit))
    if (rows.length === 0) idle.push(workspaceId)
    else queues.push(rows)
  }
  const rounds = Math.max(0, ...queues.map((rows) => rows.length))
  const leases: Lease[] = []
  for (let round = 0; round < rounds; round += 1) {
    for (const rows of queues) {
      const row = rows[round]
      if (leases.length >= limit || row === undefined) continue
      const lease = await options.take(row)
      if (lease !== undefined) leases.push(lease)
    }
  }
  return { leases, idle }
}
