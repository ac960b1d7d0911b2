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
