import type { JournalPosition } from '../store/click-store.ts'
import type { ErasedClicks } from '../store/raw-click-source.ts'

/** The name and folder of a journal: the part of a `JournalFolder` that threads can exchange. */
export type JournalLocation = { readonly id: string; readonly folder: string }

/** Clicks of a journal that cannot be read. */
export type JournalDamage = {
  readonly journal: string
  /** Bytes that belong to no intact frame. */
  readonly bytes: number
  /** Segments that are missing before others. */
  readonly missingSegments: number
  /** An estimate of the lost clicks, by the average size of others; missing segments count as full. */
  readonly clicks: number
  /** Where the damaged segment is kept; undefined if there is none, or it could not be copied. */
  readonly copy: string | undefined
}

/** Thrown while ingestion is paused: no failure. Threads exchange its name, not its class. */
export class IngestionPaused extends Error {
  override readonly name = 'IngestionPaused'
}

/** Work that the drain thread answers when it has ended. */
export type DrainTask =
  /** Ingest a journal that no process appends to, up to its end. */
  | { readonly kind: 'ingest'; readonly journal: JournalLocation }
  /** Remove clicks. */
  | { readonly kind: 'erase'; readonly erased: ErasedClicks }

/** Messages to the drain thread. */
export type DrainCommand =
  /** This node's own journal has new clicks; its writer appends to `activeSegment`. */
  | { readonly kind: 'wake'; readonly activeSegment: number }
  /** `id` names the task in its answers. */
  | { readonly kind: 'run'; readonly id: number; readonly task: DrainTask }
  /** The own journal is closed: ingest the rest of it, then end. */
  | { readonly kind: 'stop' }

/** Messages from the drain thread. */
export type DrainEvent =
  /** The position up to which the journal of a task has been ingested. */
  | { readonly kind: 'progress'; readonly id: number; readonly position: JournalPosition }
  /** `error`: why the task failed; undefined if it succeeded. */
  | { readonly kind: 'ended'; readonly id: number; readonly error: Error | undefined }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'damage'; readonly damage: JournalDamage }
  | { readonly kind: 'stopped' }
