import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../failure.ts'
import { backoffMs } from '../../work/backoff.ts'
import { StaleRow } from '../store.ts'
import { folderOf, isBusy, translateError } from './errors.ts'

/** Units in one transaction at most, so that the first does not wait long for the last. */
const BATCH_MAX = 256
/** How long to wait for another process to give up the write lock. */
const BUSY_DEADLINE_MS = 5_000
const BUSY_WAIT_BASE_MS = 2
const BUSY_WAIT_CAP_MS = 50
/** Runs of one unit that found a row changed, before that is a fault. */
const ATTEMPTS_MAX = 8

type Unit = {
  run(): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** Tells a unit's caller how it ended. */
type Settle = () => void

/** What units have left to be written once for all of them, before their transaction is committed. */
type Pending = {
  /** How far it has come, for a return to there. */
  mark(): number
  write(): Promise<void>
  /** Forgets what came after the mark, which is undone. */
  undoTo(mark: number): void
  /** Called after the commit, before any unit settles. */
  committed(): void
}

/**
 * Runs units of work one after the other on one connection, many to a transaction: what is asked for
 * in the same turn of the event loop shares one `COMMIT`, and so one sync to disk. One that throws is
 * undone alone.
 *
 * Savepoints make SQLite copy every page that a unit is the first to change, which costs a small unit
 * more than its own work. So a batch is run without; if a unit throws, all is undone and run again,
 * each unit under a savepoint.
 *
 * Waits for another process's lock without blocking the event loop: SQLite's own busy handler sleeps
 * in the calling thread, so it is off on this connection.
 */
export class GroupCommit {
  readonly #database: DatabaseSync
  readonly #folder: string
  readonly #pending: Pending
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  #queue: Unit[] = []
  #draining: Promise<void> | undefined

  constructor(database: DatabaseSync, pending: Pending) {
    this.#database = database
    this.#folder = folderOf(database)
    this.#pending = pending
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#savepoint = database.prepare('savepoint unit')
    this.#release = database.prepare('release unit')
  }

  /** Settles when the unit is on disk, or undone. The unit may be run several times. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ run: work, resolve: resolve as (value: unknown) => void, reject })
      this.#draining ??= this.#drain()
    })
  }

  /** Settles when everything that was asked for has settled. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      await nextTurn()
      const batch = this.#queue.splice(0, BATCH_MAX)
      try {
        const settled = (await this.#runTogether(batch)) ?? (await this.#runApart(batch))
        this.#commit.run()
        this.#pending.committed()
        for (const settle of settled) settle()
      } catch (error) {
        this.#rollback()
        const translated = translateError(error, this.#folder)
        for (const unit of batch) unit.reject(translated)
      }
    }
    // In the turn that saw the queue empty: a unit that comes later must start anew.
    this.#draining = undefined
  }

  /**
   * Undefined when something threw: then nothing is kept, and all are to be run again. For a unit by
   * itself too, which would have to be run twice to fail once.
   */
  async #runTogether(batch: readonly Unit[]): Promise<Settle[] | undefined> {
    if (batch.length === 1) return undefined
    await this.#beginWhenFree()
    try {
      const settled: Settle[] = []
      for (const unit of batch) {
        const value = await unit.run()
        settled.push(() => unit.resolve(value))
      }
      await this.#pending.write()
      return settled
    } catch {
      this.#rollback()
      return undefined
    }
  }

  async #runApart(batch: readonly Unit[]): Promise<Settle[]> {
    await this.#beginWhenFree()
    const settled: Settle[] = []
    for (const unit of batch) {
      const mark = this.#pending.mark()
      this.#savepoint.run()
      try {
        const value = await this.#runUnit(unit, mark)
        settled.push(() => unit.resolve(value))
      } catch (error) {
        this.#undoUnit(mark)
        settled.push(() => unit.reject(error))
      }
      this.#release.run()
    }
    return settled
  }

  async #runUnit(unit: Unit, mark: number): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const value = await unit.run()
        await this.#pending.write()
        return value
      } catch (error) {
        if (!(error instanceof StaleRow)) throw error
        if (attempt === ATTEMPTS_MAX) throw Failure.unavailable(error)
        this.#undoUnit(mark)
      }
    }
  }

  #undoUnit(mark: number): void {
    this.#pending.undoTo(mark)
    // Where SQLite has undone the whole transaction itself (a full disk), this throws, and the batch
    // fails as one.
    this.#database.exec('rollback to unit')
  }

  async #beginWhenFree(): Promise<void> {
    const deadline = performance.now() + BUSY_DEADLINE_MS
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#begin.run()
        return
      } catch (error) {
        if (!isBusy(error)) throw error
        if (performance.now() > deadline) throw Failure.unavailable(error)
        await sleep(1 + backoffMs(attempt, BUSY_WAIT_BASE_MS, BUSY_WAIT_CAP_MS, Math.random()))
      }
    }
  }

  #rollback(): void {
    this.#pending.undoTo(0)
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    } catch {
      // The transaction is gone already; the error that led here is the one to tell.
    }
  }
}
