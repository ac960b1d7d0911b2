import type { JournalPosition } from '../store/click-store.ts'
import type { ErasedClicks } from '../store/erased-clicks.ts'

/** The name and folder of a journal: the part of a `JournalFolder` that threads can exchange. */
export type JournalLocation = { readonly id: string; readonly folder: string }

/** Messages to the drain thread. */
export type DrainCommand =
  /** This node's own journal has new clicks; its writer appends to `activeSegment`. */
  | { readonly kind: 'wake'; readonly activeSegment: number }
  /** Ingest a journal that no process appends to, up to its end. */
  | { readonly kind: 'ingest'; readonly journal: JournalLocation }
  /** Remove clicks; `id` names the command in its answer. */
  | { readonly kind: 'erase'; readonly id: number; readonly erased: ErasedClicks }
  /** The own journal is closed: ingest the rest of it, then end. */
  | { readonly kind: 'stop' }

/** Messages from the drain thread. */
export type DrainEvent =
  /** The position up to which a taken over journal has been ingested. */
  | { readonly kind: 'progress'; readonly id: string; readonly position: JournalPosition }
  | { readonly kind: 'ingested'; readonly id: string }
  | { readonly kind: 'ingest failed'; readonly id: string; readonly error: unknown }
  | { readonly kind: 'erased'; readonly id: number }
  | { readonly kind: 'erase failed'; readonly id: number; readonly error: unknown }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'damage'; readonly bytes: number; readonly copy: string | undefined }
  | { readonly kind: 'stopped' }
