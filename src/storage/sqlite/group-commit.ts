import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../platform/failure.ts'
import { backoffMs } from '../../platform/work/async.ts'
import type { Change } from '../changes.ts'
import { StaleRow } from '../store.ts'
import { folderOf, isBusy, translateError } from './errors.ts'

type Listener = (changes: readonly Change[]) => void

/** Notifies listeners of this process's own changes as soon as they are committed. */
export class CommitListeners {
  readonly #listeners: Listener[] = []

  add(listener: Listener): void {
    this.#listeners.push(listener)
  }

  notify(changes: readonly Change[]): void {
    for (const listener of this.#listeners) listener(changes)
  }
}

/** The maximum number of transactions in one batch, so that the first does not wait long for the last. */
const BATCH_MAX = 256
/** The maximum number in one commit: all but one of them run again when the last one is rolled back. */
const COMMIT_MAX = 64
/** The maximum time that a batch waits for further transactions. */
const GATHER_MS_MAX = 5
/** The maximum time that it waits for clients that were answered after the batch before it. */
const RETURN_MS_MAX = 1
/** How long to wait for another process to release the write lock. */
const BUSY_DEADLINE_MS = 5_000
const BUSY_WAIT_BASE_MS = 2
const BUSY_WAIT_CAP_MS = 50
/** How often a transaction is tried that finds a row changed, before it fails. */
const ATTEMPTS_MAX = 8

type QueuedTransaction = {
  run(): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** What resolves or rejects the promise of each transaction's caller once the disk has synced. */
type Settled = Map<QueuedTransaction, () => void>

/** Writes that the transactions of a batch deferred, to be written together before the commit. */
type BatchWrites = {
  /** How many were ever deferred. */
  readonly count: number
  flush(): Promise<void>
  /** Discards everything, after a rollback. */
  undo(): void
  /** Called after the commit, before any caller's promise settles. */
  committed(): void
}

/**
 * What the commits of a connection need of a log that is synced apart from them; see
 * `WriteAheadLog`.
 */
type CommitLog = {
  isBegun(): boolean
  begin(): Promise<void>
  sync(): Promise<void>
  checkpointIfLong(): Promise<void> | undefined
  readonly checkpointing: Promise<void> | undefined
}

/**
 * Runs transactions one after the other on one connection. Those queued in the same turn of the event loop, or while
 * the disk syncs the batch before, form a batch and share one sync to disk, and up to `COMMIT_MAX` of them one `COMMIT`.
 * A lone transaction runs at once; two or more wait, for a short time, as long as each further turn adds another.
 *
 * One that throws is rolled back without affecting the others. Most are refused before they write anything, so nothing
 * is to roll back. Otherwise those of its commit that came before it run again, in a commit without it. There are no
 * savepoints: SQLite copies every page that the transaction is the first to change after one, which costs a small
 * transaction more than its own work.
 *
 * Waits for another process's lock without blocking the event loop: SQLite's busy handler sleeps in
 * the calling thread, so this connection must not use it.
 */
export class GroupCommit {
  readonly #database: DatabaseSync
  readonly #folder: string
  readonly #writes: BatchWrites
  readonly #log: CommitLog | undefined
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #totalChanges: StatementSync
  #queue: QueuedTransaction[] = []
  #draining: Promise<void> | undefined
  /** How many transactions to expect of clients that were just answered, and of those that wait. */
  #expected = { count: 0, untilMs: 0 }
  #onExpected: (() => void) | undefined

  /** @param log undefined when the connection syncs its commits itself */
  constructor(database: DatabaseSync, writes: BatchWrites, log?: CommitLog) {
    this.#log = log
    this.#database = database
    this.#folder = folderOf(database)
    this.#writes = writes
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#totalChanges = database.prepare('select total_changes() as rows')
  }

  /** Settles when the transaction is on disk or rolled back. `work` may run several times. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: work, resolve: resolve as (value: unknown) => void, reject })
      if (this.#queue.length >= this.#expected.count) this.#onExpected?.()
      this.#draining ??= this.#drain()
    })
  }

  /** Settles when the queue is empty and every transaction has settled. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = await this.#nextBatch()
      try {
        for (const settle of await this.#commitBatch(batch)) settle()
      } catch (error) {
        for (const transaction of batch) transaction.reject(error)
      }
      this.#expected = {
        count: Math.min(BATCH_MAX, batch.length + this.#queue.length),
        untilMs: performance.now() + RETURN_MS_MAX,
      }
      await this.#log?.checkpointIfLong()
    }
    // Reset in the same turn that saw the queue empty, so that a later transaction starts a new
    // drain.
    this.#draining = undefined
  }

  /**
   * Clients that were answered after the last commit send their next requests while this batch gathers: were it run at
   * once, two halves of them would take turns, with a commit for each.
   */
  async #nextBatch(): Promise<readonly QueuedTransaction[]> {
    const untilMs = performance.now() + GATHER_MS_MAX
    let gathered: number
    do {
      gathered = this.#queue.length
      await nextTurn()
    } while (
      this.#queue.length > gathered &&
      this.#queue.length < BATCH_MAX &&
      performance.now() < untilMs
    )
    if (this.#queue.length < this.#expected.count && performance.now() < this.#expected.untilMs) {
      await this.#awaitExpected()
    }
    return this.#queue.splice(0, BATCH_MAX)
  }

  #awaitExpected(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#onExpected = undefined
        resolve()
      }
      const timer = setTimeout(done, RETURN_MS_MAX)
      this.#onExpected = done
    })
  }

  /** Returns what settles each transaction. @throws when what was committed may not be on disk */
  async #commitBatch(batch: readonly QueuedTransaction[]): Promise<Iterable<() => void>> {
    const settled: Settled = new Map()
    try {
      for (let from = 0; from < batch.length; from += COMMIT_MAX) {
        await this.#commitTogether(batch.slice(from, from + COMMIT_MAX), settled)
      }
    } catch (error) {
      const reason = translateError(error, this.#folder)
      for (const transaction of batch) {
        if (!settled.has(transaction)) settled.set(transaction, () => transaction.reject(reason))
      }
    }
    await this.#log?.sync()
    return settled.values()
  }

  /**
   * Commits those that do not throw, in their order.
   *
   * @throws when another process does not release the lock
   */
  async #commitTogether(group: readonly QueuedTransaction[], settled: Settled): Promise<void> {
    const [first] = group
    if (first === undefined) return
    if (group.length === 1) return this.#commitAlone(first, settled)
    await this.#beginWhenFree()
    const ran: [QueuedTransaction, () => void][] = []
    try {
      for (const transaction of group) ran.push([transaction, await this.#runNext(transaction)])
      await this.#commitWrites()
      for (const [transaction, settle] of ran) settled.set(transaction, settle)
    } catch {
      this.#rollback()
      const culprit = group[ran.length]
      if (culprit === undefined) {
        // The commit failed, perhaps because of a single one.
        for (const transaction of group) await this.#commitAlone(transaction, settled)
        return
      }
      await this.#commitTogether(group.slice(0, ran.length), settled)
      await this.#commitAlone(culprit, settled)
      await this.#commitTogether(group.slice(ran.length + 1), settled)
    }
  }

  /** @throws what the transaction throws, unless it had written nothing: then it is rejected, and the others go on */
  async #runNext(transaction: QueuedTransaction): Promise<() => void> {
    const written = this.#countWrites()
    try {
      const value = await transaction.run()
      return () => transaction.resolve(value)
    } catch (error) {
      const mustRunAgain = error instanceof StaleRow || !this.#database.isTransaction
      if (mustRunAgain || this.#countWrites() !== written) throw error
      return () => transaction.reject(error)
    }
  }

  /** Rises with every write, also by a deferred one. */
  #countWrites(): number {
    return Number(this.#totalChanges.get()?.rows) + this.#writes.count
  }

  /** @throws when another process does not release the lock */
  async #commitAlone(transaction: QueuedTransaction, settled: Settled): Promise<void> {
    for (let attempt = 1; !settled.has(transaction); attempt += 1) {
      await this.#beginWhenFree()
      try {
        const value = await transaction.run()
        await this.#commitWrites()
        settled.set(transaction, () => transaction.resolve(value))
      } catch (error) {
        this.#rollback()
        if (error instanceof StaleRow && attempt < ATTEMPTS_MAX) continue
        const reason =
          error instanceof StaleRow
            ? Failure.unavailable(error, { kind: 'database_busy' })
            : translateError(error, this.#folder)
        settled.set(transaction, () => transaction.reject(reason))
      }
    }
  }

  async #commitWrites(): Promise<void> {
    await this.#writes.flush()
    this.#commit.run()
    this.#writes.committed()
  }

  async #beginWhenFree(): Promise<void> {
    const deadline = performance.now() + BUSY_DEADLINE_MS
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#begin.run()
        if (this.#log === undefined || this.#log.isBegun()) return
        this.#database.exec('rollback')
        await this.#log.begin()
      } catch (error) {
        if (!isBusy(error)) {
          // It may have begun all the same.
          this.#rollback()
          throw error
        }
        const checkpointing = this.#log?.checkpointing
        if (checkpointing !== undefined) await checkpointing
        else if (performance.now() > deadline)
          throw Failure.unavailable(error, { kind: 'database_busy' })
        await sleep(1 + backoffMs(attempt, BUSY_WAIT_BASE_MS, BUSY_WAIT_CAP_MS, Math.random()))
      }
    }
  }

  #rollback(): void {
    this.#writes.undo()
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    } catch {
      // Already rolled back; the original error is the one to report.
    }
  }
}
