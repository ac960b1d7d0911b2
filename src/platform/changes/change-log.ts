import type { Change } from './change.ts'

/** A reader's position in the change log. Opaque: each engine has its own format. */
export type ChangeCursor = string

/** The log of changes, written in the same transaction as each change. */
export type ChangeLog = {
  /** Call only within a transaction of `Store.write`. */
  append(change: Change, atMicros: number): Promise<void>
  /** Returns the cursor after everything committed so far. */
  end(): Promise<ChangeCursor>
  /**
   * Returns everything committed after `cursor`, and the next cursor. May return a change twice; never
   * omits one, in whatever order transactions commit.
   */
  since(cursor: ChangeCursor, limit: number): Promise<NewChanges>
  /**
   * Deletes a bounded number of the oldest changes from before `beforeMicros`; returns true when there may
   * be more. Call for changes that every reader has passed long ago.
   */
  trim(beforeMicros: number): Promise<boolean>
}

export type NewChanges = {
  /**
   * Undefined when the reader must invalidate everything: there are more changes than `limit`, the log has
   * already deleted some that it has not read, or the database was restored to an older state.
   */
  readonly changes: readonly Change[] | undefined
  readonly cursor: ChangeCursor
  /**
   * Whether the database server may have crashed since `cursor` was returned, and lost the state of its
   * last transactions: then a reader reads again from a cursor that is some seconds older.
   */
  readonly isInterrupted: boolean
}
