import type { JournalPosition } from '../store/click-store.ts'

const CLICKS = 0
const BATCHES = 1
const FAILURES = 2
const MICROS = 3
const SEGMENT = 4
const OFFSET = 5
const WITHOUT_ROW = 6
const PAUSED = 7
const WITHOUT_LINK = 8
const IMPORTED = 9
const SPOOLS = 10
const FIELDS = 11

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

  /** Ingested clicks. */
  get clicks(): number {
    return this.#get(CLICKS)
  }

  /** Committed transactions. */
  get batches(): number {
    return this.#get(BATCHES)
  }

  /** Failed transactions. */
  get failures(): number {
    return this.#get(FAILURES)
  }

  /** Seconds spent in committed transactions. */
  get seconds(): number {
    return this.#get(MICROS) / 1e6
  }

  /** Ingested clicks without a row for exports, because their workspace was over its limit. */
  get withoutRow(): number {
    return this.#get(WITHOUT_ROW)
  }

  /** Ingested clicks of links that do not exist. */
  get withoutLink(): number {
    return this.#get(WITHOUT_LINK)
  }

  /** Counted clicks of imports. */
  get imported(): number {
    return this.#get(IMPORTED)
  }

  /** Imports whose clicks wait to be counted. */
  get spools(): number {
    return this.#get(SPOOLS)
  }

  /** The position up to which this node's own journal is ingested; undefined before the first click. */
  get position(): JournalPosition | undefined {
    const segment = this.#get(SEGMENT)
    return segment === 0 ? undefined : { segment, offset: this.#get(OFFSET) }
  }

  /** Whether ingestion is paused and clicks stay in the journal. */
  get isPaused(): boolean {
    return this.#get(PAUSED) === 1
  }

  pause(isPaused: boolean): void {
    Atomics.store(this.#values, PAUSED, isPaused ? 1n : 0n)
  }

  noteIngested(clicks: number, ms: number): void {
    Atomics.add(this.#values, CLICKS, BigInt(clicks))
    Atomics.add(this.#values, BATCHES, 1n)
    Atomics.add(this.#values, MICROS, BigInt(Math.round(ms * 1_000)))
  }

  noteWithoutRow(clicks: number): void {
    Atomics.add(this.#values, WITHOUT_ROW, BigInt(clicks))
  }

  noteWithoutLink(clicks: number): void {
    Atomics.add(this.#values, WITHOUT_LINK, BigInt(clicks))
  }

  noteImported(clicks: number): void {
    Atomics.add(this.#values, IMPORTED, BigInt(clicks))
  }

  noteSpools(spools: number): void {
    Atomics.store(this.#values, SPOOLS, BigInt(spools))
  }

  noteFailed(): void {
    Atomics.add(this.#values, FAILURES, 1n)
  }

  /** Not atomic: a reader in between sees a slightly wrong position, used for backlog reports only. */
  notePosition({ segment, offset }: JournalPosition): void {
    Atomics.store(this.#values, OFFSET, BigInt(offset))
    Atomics.store(this.#values, SEGMENT, BigInt(segment))
  }

  #get(field: number): number {
    return Number(Atomics.load(this.#values, field))
  }
}
