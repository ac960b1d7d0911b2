import type { Change } from './change.ts'

/** What holds something in memory that may be changed, here or in another process. */
export type ChangeListener = {
  /** Forgets what was changed; may load it again. */
  apply(changes: readonly Change[]): void
  forgetAll(): void
  /** Forgets what it takes not to exist: while the log cannot be read, that may have been made. */
  forgetAbsences(): void
}
