import type { CompiledQuery, Kysely } from 'kysely'
import type { Change } from './changes.ts'
import type { Schema } from './schema.ts'

/**
 * The database, on either engine, as the stores that a service names. Every operation may throw
 * `Failure.unavailable` when the database cannot be reached, does not answer in time, or cannot
 * write.
 */
export type Store<Stores> = {
  /** Reads committed data, which with SQLite may not be on disk yet. */
  readonly read: Stores
  /**
   * Runs `work` as one transaction and settles when it is on disk, with everything that it has
   * read, or rolled back because `work` threw. `work` must await only the stores that it is given:
   * other transactions may be waiting behind it. It may run again after a conflict with another
   * writer, so it must have no other side effects.
   */
  write<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /**
   * Calls `listener` with the changes of each commit, which may include several transactions,
   * before their `write` settles.
   */
  onChange(listener: (changes: readonly Change[]) => void): void
  /**
   * Calls `listener` when another process reports a change. Callers must not depend on it: an
   * engine need not support it, and notifications may be lost.
   */
  onRemoteChange(listener: () => void): void
  /** Whether the database answers, as far as this process knows. */
  isAvailable(): boolean
  close(): Promise<void>
}

/** An update violated a unique constraint. The transaction must not continue after it. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** The row was changed since it was read. `write` runs the transaction again. */
export class StaleRow extends Error {
  override readonly name = 'StaleRow'
}

/**
 * More links than allowed have keys that differ only by letter case. The transaction must not
 * continue after it.
 */
export class TooManyVariants extends Error {
  override readonly name = 'TooManyVariants'
}

/**
 * Thrown when the database holds no instance of the service and the caller did not allow creating
 * one.
 */
export class NoInstance extends Error {
  override readonly name = 'NoInstance'
}

/**
 * Returns a statement that takes an exclusive lock on a name. Other transactions that lock the same
 * name wait until this one ends.
 */
export type LockName = (tx: Kysely<Schema>, name: string) => CompiledQuery

/**
 * How a transaction keeps a row that it has read until it ends: `share` from changes and deletion, `update` also from
 * rows of other tables that refer to it. Only within `Store.write`; an engine that runs one writing transaction at a
 * time needs none.
 */
export type RowLock = 'share' | 'update'
