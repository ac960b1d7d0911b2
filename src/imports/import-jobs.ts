import type { Store } from '../platform/database/store.ts'
import type { Clock } from '../platform/time/clock.ts'
import type { Import } from './import.ts'
import type { ImportFiles } from './import-files.ts'
import { LEASE_MICROS } from './import-lease.ts'
import type { ImportStores } from './import-stores.ts'

/** Imports at once of one node: each is a process. */
const RUNNING_MAX = 2
const DUE_MAX = 64

/** A process that runs an import. */
export type ImportProcess = {
  /** Settles when the process has ended. Never rejects. */
  readonly ended: Promise<void>
  /** Asks it to stop after its transaction. */
  stop(): void
}

type Dependencies = {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly files: ImportFiles
  /** Starts a process for an import that this node has leased. */
  readonly start: (leased: Import) => ImportProcess
  /** Called when a place has become free. */
  readonly onFree: () => void
}

/** Runs the imports that are due and whose files are on this node, in processes of their own. */
export class ImportJobs {
  readonly #deps: Dependencies
  readonly #running = new Map<Import, ImportProcess>()
  #isStopped = false

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Leases and starts what is due; one import of a workspace at a time. */
  async startDue(): Promise<void> {
    const { store, clock, files } = this.#deps
    if (this.#running.size >= RUNNING_MAX) return
    for (const due of await store.read.imports.findDue(clock.nowMicros(), DUE_MAX)) {
      if (this.#isStopped || this.#running.size >= RUNNING_MAX) return
      const isElsewhere = due.file_id !== null && !files.has(due.file_id)
      if (isElsewhere || this.#isBusy(due.workspace_id)) continue
      const lease = { fence: due.fence + 1, lease_until: clock.nowMicros() + LEASE_MICROS }
      const isLeased = await store.write((stores) =>
        stores.imports.update(due.id, due.fence, lease),
      )
      if (isLeased) this.#start({ ...due, ...lease })
    }
  }

  /** Ends the processes; another node or the next start goes on. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const running of this.#running.values()) running.stop()
    await Promise.all([...this.#running.values()].map(({ ended }) => ended))
  }

  #isBusy(workspaceId: string): boolean {
    return [...this.#running.keys()].some(({ workspace_id }) => workspace_id === workspaceId)
  }

  #start(leased: Import): void {
    const running = this.#deps.start(leased)
    this.#running.set(leased, running)
    running.ended
      .then(() => this.#removeFile(leased))
      .catch(() => {})
      .finally(() => {
        this.#running.delete(leased)
        this.#deps.onFree()
      })
  }

  /** Of an import that is complete. What fails here is removed with what no import needs. */
  async #removeFile({ workspace_id, id }: Import): Promise<void> {
    const { store, files } = this.#deps
    const ended = await store.read.imports.find(workspace_id, id)
    const isComplete = ended?.status === 'succeeded' && ended.is_dry_run === 0
    if (isComplete && ended.file_id !== null) await files.remove(ended.file_id)
  }
}
