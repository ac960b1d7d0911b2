/** Something leased that is worked on for an owner. */
type Lease = { readonly workspaceId: string }

/** Runs leased work, bounded for the process and for each workspace. */
export class LeasedWork<L extends Lease> {
  readonly #options: LeasedWorkOptions<L>
  readonly #running = new Map<L, Promise<void>>()

  constructor(options: LeasedWorkOptions<L>) {
    this.#options = options
  }

  /** What is under way. */
  get leases(): Iterable<L> {
    return this.#running.keys()
  }

  /** How many more may run now. */
  get room(): number {
    return this.#options.concurrency - this.#running.size
  }

  /** How many more of one workspace may run now. */
  roomOf(workspaceId: string): number {
    let left = this.#options.concurrencyPerWorkspace
    for (const lease of this.#running.keys()) if (lease.workspaceId === workspaceId) left -= 1
    return left
  }

  start(lease: L): void {
    const running = this.#options.run(lease).finally(() => {
      this.#running.delete(lease)
      this.#options.onRoom()
    })
    this.#running.set(lease, running)
  }

  /** Settles when nothing runs. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }
}

type LeasedWorkOptions<L extends Lease> = {
  readonly concurrency: number
  readonly concurrencyPerWorkspace: number
  /** Must not reject. */
  readonly run: (lease: L) => Promise<void>
  /** Called whenever a piece of work has ended. */
  readonly onRoom: () => void
}
