import type { Change } from './change.ts'

/** How far a reader has come in the change log. Opaque: each engine has its own form. */
export type ChangeCursor = string

/** The log of changes, written in the same transaction as each change. */
export type ChangeLog = {
  /** Only within a unit of `Store.write`. */
  append(change: Change, atMicros: number): Promise<void>
  /** The cursor of a reader that knows everything committed so far. */
  end(): Promise<ChangeCursor>
  /**
   * Everything committed after `cursor`, and the cursor to go on from. May tell a change twice; never
   * leaves one out, in whatever order transactions commit.
   */
  since(cursor: ChangeCursor, limit: number): Promise<NewChanges>
  /**
   * Forgets the first of what is older, a bounded number; true when there may be more. For what every
   * reader has long passed.
   */
  trim(beforeMicros: number): Promise<boolean>
}

export type NewChanges = {
  /**
   * Undefined when the reader had better forget everything: there are more changes than it asked for,
   * some that it has not seen are no longer in the log, or the database goes on from an older state.
   */
  readonly changes: readonly Change[] | undefined
  readonly cursor: ChangeCursor
  /**
   * Whether the server may have crashed since the cursor was given, and with it what it knew of its
   * last transactions: then a reader goes back to a cursor that is some seconds older.
   */
  readonly isInterrupted: boolean
}
