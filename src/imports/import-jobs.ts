import type { Clock } from '../platform/time/clock.ts'
import type { Store } from '../storage/store.ts'
import { endImport } from './end-import.ts'
import { type Import, ImportTakenOver, LEASE_MICROS } from './import.ts'
import type { ImportFiles } from './import-files.ts'
import type { ImportStores } from './store/import-store.ts'

/** Imports at once of one node: each is a process. */
const RUNNING_MAX = 2
/** Beyond these, imports whose files are on other nodes would hide those that this node can run. */
const DUE_MAX = 1_000
/** After an outage of the database, a process needs some seconds to renew its lease. */
const HUNG_MICROS = 2 * LEASE_MICROS

const GIVEN_UP =
  'The process that reads the source broke off too many times, so the source may be damaged. The log of the service has more. The import goes on where it was when it is started again.'

/** A process that runs an import. */
export type ImportProcess = {
  /** Settles when the process has ended. Never rejects. */
  readonly ended: Promise<void>
  /** Asks it to stop after its transaction. */
  stop(): void
  kill(): void
}

type Dependencies = {
  readonly store: Store<ImportStores>
  readonly clock: Clock
  readonly files: ImportFiles
  /** Starts a process for an import that this node has leased. */
  readonly start: (leased: Import) => ImportProcess
  /** Called when a place has become free. */
  readonly onFree: () => void
  /** Called when a process did not renew its lease, and is killed. */
  readonly onHung: (of: Import) => void
  /** Called when an import is not tried again. */
  readonly onGivenUp: (of: Import) => void
}

type Running = {
  readonly leased: Import
  readonly process: ImportProcess
  /** Since when its lease is known to be lost. */
  lostSince: number | undefined
}

/** Runs the imports that are due and whose files are on this node, in processes of their own. */
export class ImportJobs {
  readonly #deps: Dependencies
  readonly #running = new Set<Running>()
  #isStopped = false

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** Leases and starts what is due; one import of a workspace at a time, on all nodes. Kills processes that hang. */
  async startDue(): Promise<void> {
    const { store, clock, files } = this.#deps
    await this.#killHung()
    if (this.#running.size >= RUNNING_MAX) return
    for (const due of await store.read.imports.findDue(clock.nowMicros(), DUE_MAX)) {
      if (this.#isStopped || this.#running.size >= RUNNING_MAX) return
      const isElsewhere = due.file_id !== null && !files.has(due.file_id)
      if (isElsewhere || this.#isBusy(due.workspace_id)) continue
      const now = clock.nowMicros()
      const attempt = nextAttempt(due, now)
      if (attempt === undefined) {
        await this.#giveUp(due)
        continue
      }
      const lease = { fence: due.fence + 1, lease_until: now + LEASE_MICROS, ...attempt }
      const isLeased = await store.write(async ({ imports, quotas }) => {
        // Two nodes may have found two imports of the workspace.
        await quotas.lock(due.workspace_id)
        if (await imports.isRunning(due.workspace_id, now)) return false
        return imports.update(due.id, due.fence, lease)
      })
      if (isLeased) this.#start({ ...due, ...lease })
    }
  }

  /** Ends the processes; another node or the next start goes on at once. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const stopped = [...this.#running]
    for (const { process } of stopped) process.stop()
    await Promise.all(stopped.map(({ process }) => process.ended))
    // One that did not stop in time was killed. That is not its fault.
    const { store, clock } = this.#deps
    for (const { leased } of stopped) {
      await requeueStopped(store, leased, clock.nowMicros()).catch(() => {})
    }
  }

  #isBusy(workspaceId: string): boolean {
    return [...this.#running].some(({ leased }) => leased.workspace_id === workspaceId)
  }

  async #killHung(): Promise<void> {
    const { store, clock, onHung } = this.#deps
    for (const running of this.#running) {
      const { leased, process } = running
      const latest = await store.read.imports.find(leased.workspace_id, leased.id)
      const now = clock.nowMicros()
      const isHeld = latest?.fence === leased.fence && (latest.lease_until ?? now) >= now
      running.lostSince = isHeld ? undefined : (running.lostSince ?? now)
      if (running.lostSince === undefined || now - running.lostSince < HUNG_MICROS) continue
      onHung(leased)
      process.kill()
    }
  }

  /** A cancelled import has ended already: its clicks stay uncounted. */
  async #giveUp(due: Import): Promise<void> {
    const { store, clock, onGivenUp } = this.#deps
    if (due.status === 'cancelled') {
      await store.write(({ imports }) => imports.update(due.id, due.fence, { next_at: null }))
    } else {
      const end = { fault: GIVEN_UP, nowMicros: clock.nowMicros() }
      try {
        await endImport(store, due, end)
      } catch (error) {
        if (error instanceof ImportTakenOver) return
        throw error
      }
    }
    onGivenUp(due)
  }

  #start(leased: Import): void {
    const process = this.#deps.start(leased)
    const running = { leased, process, lostSince: undefined }
    this.#running.add(running)
    process.ended
      .then(() => this.#removeFile(leased))
      .catch(() => {})
      .finally(() => {
        this.#running.delete(running)
        this.#deps.onFree()
      })
  }

  /**
   * Removes the file of an import that is complete. If that fails, the file is removed with others
   * that no import needs.
   */
  async #removeFile({ workspace_id, id }: Import): Promise<void> {
    const { store, files } = this.#deps
    const ended = await store.read.imports.find(workspace_id, id)
    const isComplete = ended?.status === 'succeeded' && ended.is_dry_run === 0
    if (isComplete && ended.file_id !== null) await files.remove(ended.file_id)
  }
}

/** Lets another process go on at once, after one was asked to stop, which is not counted as an attempt. */
export async function requeueStopped(
  store: Store<ImportStores>,
  { id, fence, attempts }: Import,
  nowMicros: number,
): Promise<void> {
  const due = { next_at: nowMicros, attempts: Math.max(0, attempts - 1) }
  await store.write(({ imports }) => imports.requeue(id, fence, due))
}

/** Attempts in a row: a file that crashes its process each time must not do so for ever. */
const ATTEMPTS_MAX = 5
const FIRST_WAIT_MICROS = 5_000_000
const WAIT_FACTOR = 4
/** An attempt that lasted so long has not failed by what the ones before it failed by. */
const STEADY_MICROS = 10 * 60 * 1_000_000

/**
 * Returns what a lease writes before the process starts, so that it counts even if the whole node goes down with the
 * process: this attempt, and when the next one may begin. Undefined when there were enough.
 */
function nextAttempt(
  { attempts, leased_at: leasedAt, lease_until: leaseUntil }: Import,
  nowMicros: number,
): Pick<Import, 'attempts' | 'next_at' | 'leased_at'> | undefined {
  const lastedMicros = leasedAt === null || leaseUntil === null ? 0 : leaseUntil - leasedAt
  const before = lastedMicros > STEADY_MICROS ? 0 : attempts
  if (before >= ATTEMPTS_MAX) return undefined
  const wait = FIRST_WAIT_MICROS * WAIT_FACTOR ** before
  return { attempts: before + 1, next_at: nowMicros + wait, leased_at: nowMicros }
}
