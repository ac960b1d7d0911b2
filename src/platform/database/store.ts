import type { Change } from '../changes/change.ts'

/**
 * The database, whichever it is, as the stores that a service names. Every operation may throw `Failure.unavailable`: the database cannot
 * be reached, did not answer in time, or cannot write.
 */
export type Store<Stores> = {
  /** What has been committed. */
  readonly read: Stores
  /**
   * Runs `work` as one atomic unit and settles when it is on disk, or undone because `work` threw.
   * `work` must await nothing but the stores it is given: other units may be waiting behind it. It
   * may be run again when another writer was in its way, so it must not change anything else.
   */
  write<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /**
   * Calls `listener` with the changes of each commit, which may hold several units, before their
   * `write` settles.
   */
  onChange(listener: (changes: readonly Change[]) => void): void
  /**
   * Calls `listener` when another process says that it has changed something. Nothing may rest on it:
   * an engine need not tell, and what it tells may be lost.
   */
  onNews(listener: () => void): void
  /** Whether the database answers, as far as this process knows. */
  isAvailable(): boolean
  close(): Promise<void>
}

/** A unique constraint stood in the way of an update. The unit must not go on after it. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** The row was changed since it was read. `write` runs the unit again. */
export class StaleRow extends Error {
  override readonly name = 'StaleRow'
}

/** More links than allowed have keys that differ only by letter case. The unit must not go on after it. */
export class TooManyVariants extends Error {
  override readonly name = 'TooManyVariants'
}
