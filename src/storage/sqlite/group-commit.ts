import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../domain/failure.ts'
import { StaleRow } from '../../domain/store.ts'
import { backoffMs } from '../../lib/backoff.ts'
import { isBusy, translateError } from './errors.ts'

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

/**
 * Runs units of work one after the other on one connection, many to a transaction: what is asked for
 * in the same turn of the event loop shares one `COMMIT`, and so one sync to disk. Each unit has a
 * savepoint of its own; one that throws is undone alone.
 *
 * Waits for another process's lock without blocking the event loop: SQLite's own busy handler sleeps
 * in the calling thread, so it is off on this connection.
 */
export class GroupCommit {
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #savepoint: StatementSync
  readonly #release: StatementSync
  #queue: Unit[] = []
  #draining: Promise<void> | undefined

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#savepoint = database.prepare('savepoint unit')
    this.#release = database.prepare('release unit')
  }

  /** Settles when the unit is on disk, or undone. */
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
        await this.#beginWhenFree()
        const settle = await this.#runAll(batch)
        this.#commit.run()
        for (const settled of settle) settled()
      } catch (error) {
        this.#rollback()
        const translated = translateError(error)
        for (const unit of batch) unit.reject(translated)
      }
    }
    // In the turn that saw the queue empty: a unit that comes later must start anew.
    this.#draining = undefined
  }

  /** Runs every unit; returns what to tell whom once the transaction is on disk. */
  async #runAll(batch: readonly Unit[]): Promise<(() => void)[]> {
    const settle: (() => void)[] = []
    for (const unit of batch) {
      this.#savepoint.run()
      try {
        const value = await this.#runUnit(unit)
        settle.push(() => unit.resolve(value))
      } catch (error) {
        // Where SQLite has undone the whole transaction itself (a full disk), this throws, and the
        // batch fails as one.
        this.#database.exec('rollback to unit')
        settle.push(() => unit.reject(error))
      }
      this.#release.run()
    }
    return settle
  }

  async #runUnit(unit: Unit): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await unit.run()
      } catch (error) {
        if (!(error instanceof StaleRow)) throw error
        if (attempt === ATTEMPTS_MAX) throw Failure.unavailable(error)
        this.#database.exec('rollback to unit')
      }
    }
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
    try {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    } catch {
      // The transaction is gone already; the error that led here is the one to tell.
    }
  }
}
