import type { JournalPosition } from '../store/click-store.ts'

const COUNTERS = [
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
] as const

export type DrainCounter = (typeof COUNTERS)[number]

const SEGMENT = COUNTERS.length
const OFFSET = SEGMENT + 1
const PAUSED = SEGMENT + 2
const FIELDS = SEGMENT + 3

/**
 * The counters of the drain threads since the process started, in memory shared with the main thread:
 * readable without a message, and unaffected when a thread crashes.
 */
export class DrainProgress {
  readonly buffer: SharedArrayBuffer
  readonly #values: BigInt64Array

  /** @param buffer the memory of another thread's `DrainProgress`; defaults to new memory */
  constructor(buffer = new SharedArrayBuffer(FIELDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#values = new BigInt64Array(buffer)
  }

  get(counter: DrainCounter): number {
    return this.#get(COUNTERS.indexOf(counter))
  }

  /** @param by an integer */
  add(counter: DrainCounter, by: number): void {
    Atomics.add(this.#values, COUNTERS.indexOf(counter), BigInt(by))
  }

  set(counter: DrainCounter, value: number): void {
    this.#set(COUNTERS.indexOf(counter), value)
  }

  /** The position up to which this node's own journal is ingested; undefined before the first click. */
  get position(): JournalPosition | undefined {
    const segment = this.#get(SEGMENT)
    return segment === 0 ? undefined : { segment, offset: this.#get(OFFSET) }
  }

  /** Not atomic: a reader in between sees a slightly wrong position, used for backlog reports only. */
  setPosition({ segment, offset }: JournalPosition): void {
    this.#set(OFFSET, offset)
    this.#set(SEGMENT, segment)
  }

  /** Whether ingestion is paused and clicks stay in the journal. */
  get isPaused(): boolean {
    return this.#get(PAUSED) === 1
  }

  pause(isPaused: boolean): void {
    this.#set(PAUSED, isPaused ? 1 : 0)
  }

  #get(field: number): number {
    return Number(Atomics.load(this.#values, field))
  }

  #set(field: number, value: number): void {
    Atomics.store(this.#values, field, BigInt(value))
  }
}
