import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Change } from '../../changes/changes.ts'
import { Failure } from '../../failure.ts'
import { backoffMs } from '../../work/async.ts'
import { StaleRow } from '../store.ts'
import type { BufferMark } from '../write-buffer.ts'
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

/**
 * The maximum number of transactions in one commit, so that the first does not wait long for the
 * last.
 */
const BATCH_MAX = 256
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

/** Resolves or rejects the promise of a transaction's caller. */
type Settle = () => void

/** Writes that the transactions of a batch deferred, to be written together before the commit. */
type BatchWrites = {
  /** Returns the current position, for `undoTo`. */
  mark(): BufferMark
  flush(): Promise<void>
  /** Discards what was added after the mark, after a rollback. */
  undoTo(mark?: BufferMark): void
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
 * Runs transactions one after the other on one connection. Those queued in the same turn of the
 * event loop, or while the disk syncs the batch before, form a batch and share one `COMMIT` and one
 * sync to disk. One that throws is
 * rolled back without affecting the others. A lone transaction runs at once; two or more wait, for a short time, as long
 * as each further turn adds another.
 *
 * A savepoint makes SQLite copy every page that the transaction is the first to change, which costs
 * a small transaction more than its own work. So a batch first runs without savepoints. If a
 * transaction throws, the batch is rolled back and run again, each transaction under a savepoint.
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
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
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
    this.#savepoint = database.prepare('savepoint queued')
    this.#release = database.prepare('release queued')
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
        const settled = await this.#commitBatch(batch)
        await this.#log?.sync()
        for (const settle of settled) settle()
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

  async #commitBatch(batch: readonly QueuedTransaction[]): Promise<Settle[]> {
    try {
      const settled = (await this.#runTogether(batch)) ?? (await this.#runSeparately(batch))
      this.#commit.run()
      this.#writes.committed()
      return settled
    } catch (error) {
      this.#rollback()
      throw translateError(error, this.#folder)
    }
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

  /**
   * Returns undefined when a transaction threw: the batch was rolled back and must run again. Also
   * for a batch of one, which would otherwise run twice when it fails.
   */
  async #runTogether(batch: readonly QueuedTransaction[]): Promise<Settle[] | undefined> {
    if (batch.length === 1) return undefined
    await this.#beginWhenFree()
    try {
      const settled: Settle[] = []
      for (const transaction of batch) {
        const value = await transaction.run()
        settled.push(() => transaction.resolve(value))
      }
      await this.#writes.flush()
      return settled
    } catch {
      this.#rollback()
      return undefined
    }
  }

  async #runSeparately(batch: readonly QueuedTransaction[]): Promise<Settle[]> {
    await this.#beginWhenFree()
    const settled: Settle[] = []
    for (const transaction of batch) {
      const mark = this.#writes.mark()
      this.#savepoint.run()
      try {
        const value = await this.#runUnderSavepoint(transaction, mark)
        settled.push(() => transaction.resolve(value))
      } catch (error) {
        this.#rollbackToSavepoint(mark)
        settled.push(() => transaction.reject(error))
      }
      this.#release.run()
    }
    return settled
  }

  async #runUnderSavepoint(transaction: QueuedTransaction, mark: BufferMark): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const value = await transaction.run()
        await this.#writes.flush()
        return value
      } catch (error) {
        if (!(error instanceof StaleRow)) throw error
        if (attempt === ATTEMPTS_MAX) throw Failure.unavailable(error, { kind: 'database_busy' })
        this.#rollbackToSavepoint(mark)
      }
    }
  }

  #rollbackToSavepoint(mark: BufferMark): void {
    this.#writes.undoTo(mark)
    // Throws when SQLite itself rolled back everything (a full disk); then the whole batch fails.
    this.#database.exec('rollback to queued')
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
        if (!isBusy(error)) throw error
        const checkpointing = this.#log?.checkpointing
        if (checkpointing !== undefined) await checkpointing
        else if (performance.now() > deadline)
          throw Failure.unavailable(error, { kind: 'database_busy' })
        await sleep(1 + backoffMs(attempt, BUSY_WAIT_BASE_MS, BUSY_WAIT_CAP_MS, Math.random()))
      }
    }
  }

  #rollback(): void {
    this.#writes.undoTo()
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    } catch {
      // Already rolled back; the original error is the one to report.
    }
  }
}
