import type { Change } from './change.ts'

/** A cache of data that this or another process may change. */
export type ChangeListener = {
  /** Invalidates what was changed; may load it again. */
  apply(changes: readonly Change[]): void
  /** Invalidates everything. */
  forgetAll(): void
  /** Invalidates cached absences: while the log is unreadable, what was absent may be created. */
  forgetAbsences(): void
}
