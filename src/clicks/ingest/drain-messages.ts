import type { JournalPosition } from '../store/click-store.ts'

/** A journal's name and folder: what crosses between threads of a `JournalFolder`. */
export type JournalPlace = { readonly id: string; readonly folder: string }

/** What the drain thread is told. */
export type DrainOrder =
  /** There is something to read in this node's own journal, whose owner now appends to `writing`. */
  | { readonly kind: 'wake'; readonly writing: number }
  /** A journal to which nobody appends is to be taken in to its end. */
  | { readonly kind: 'take in'; readonly journal: JournalPlace }
  /** Nobody appends any more: take in what is left, and end. */
  | { readonly kind: 'stop' }

/** What the drain thread tells. */
export type DrainReport =
  /** How far a journal to which nobody appends has been taken in. */
  | { readonly kind: 'read'; readonly id: string; readonly position: JournalPosition }
  | { readonly kind: 'taken in'; readonly id: string }
  | { readonly kind: 'not taken in'; readonly id: string; readonly error: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'damage'; readonly bytes: number; readonly copy: string | undefined }
  | { readonly kind: 'stopped' }
