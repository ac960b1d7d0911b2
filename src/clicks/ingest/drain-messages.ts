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

const FIELDS = [
  /** Ingested clicks. */
  'clicks',
  /** Committed transactions. */
  'batches',
  /** Failed transactions. */
  'failures',
  /** Microseconds spent in committed transactions. */
  'micros',
  /** Ingested clicks without a row for exports, because their workspace was over its limit. */
  'withoutRow',
  /** Ingested clicks of links that do not exist. */
  'withoutLink',
  /** Counted clicks of imports. */
  'imported',
  /** Imports whose clicks wait to be counted. */
  'spools',
  /** The segment of this node's own journal up to which it is ingested; 0 before the first click. */
  'segment',
  /** The offset in that segment. */
  'offset',
  /** 1 while clicks are not ingested but stay in the journal. */
  'paused',
] as const

type Field = (typeof FIELDS)[number]

/**
 * Counters of the drain threads since the process started, the position in this node's own journal, and whether ingestion
 * is paused. In memory shared with the main thread: readable without a message, and unaffected when a thread crashes.
 */
export class DrainProgress {
  readonly buffer: SharedArrayBuffer
  readonly #values: BigInt64Array

  /** @param buffer the memory of another thread's `DrainProgress`; defaults to new memory */
  constructor(buffer = new SharedArrayBuffer(FIELDS.length * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#values = new BigInt64Array(buffer)
  }

  get(field: Field): number {
    return Number(Atomics.load(this.#values, FIELDS.indexOf(field)))
  }

  /** @param value an integer */
  set(field: Field, value: number): void {
    Atomics.store(this.#values, FIELDS.indexOf(field), BigInt(value))
  }

  /** @param by an integer */
  add(field: Field, by: number): void {
    Atomics.add(this.#values, FIELDS.indexOf(field), BigInt(by))
  }

  /** The position up to which this node's own journal is ingested; undefined before the first click. */
  get position(): JournalPosition | undefined {
    const segment = this.get('segment')
    return segment === 0 ? undefined : { segment, offset: this.get('offset') }
  }

  /** Not atomic: a reader in between sees a slightly wrong position, used for backlog reports only. */
  setPosition({ segment, offset }: JournalPosition): void {
    this.set('offset', offset)
    this.set('segment', segment)
  }

  get isPaused(): boolean {
    return this.get('paused') === 1
  }
}
