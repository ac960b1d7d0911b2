import type { JournalPosition } from '../store/click-store.ts'

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
