import type { JournalPosition } from '../store/click-store.ts'

const CLICKS = 0
const BATCHES = 1
const FAILURES = 2
const MICROS = 3
const SEGMENT = 4
const OFFSET = 5
const WITHOUT_ROW = 6
const PAUSED = 7
const FIELDS = 8

/**
 * What drain threads have done since the process started, in memory that they share with the main
 * thread: it is looked at without a message, and outlives a thread that crashes.
 */
export class DrainProgress {
  readonly buffer: SharedArrayBuffer
  readonly #values: BigInt64Array

  /** @param buffer of the one that another thread has; a new one when left out */
  constructor(buffer = new SharedArrayBuffer(FIELDS * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.#values = new BigInt64Array(buffer)
  }

  /** Clicks that the store has taken. */
  get clicks(): number {
    return this.#get(CLICKS)
  }

  /** In so many transactions. */
  get batches(): number {
    return this.#get(BATCHES)
  }

  /** Transactions that failed. */
  get failures(): number {
    return this.#get(FAILURES)
  }

  /** Seconds that the store took for them. */
  get seconds(): number {
    return this.#get(MICROS) / 1e6
  }

  /** Clicks among them that are not kept one by one, because their workspace had too many. */
  get withoutRow(): number {
    return this.#get(WITHOUT_ROW)
  }

  /** How far this node's own journal has been taken in; undefined while nothing of it was. */
  get position(): JournalPosition | undefined {
    const segment = this.#get(SEGMENT)
    return segment === 0 ? undefined : { segment, offset: this.#get(OFFSET) }
  }

  /** Whether drain threads leave clicks in the journal for now. */
  get isPaused(): boolean {
    return this.#get(PAUSED) === 1
  }

  pause(isPaused: boolean): void {
    Atomics.store(this.#values, PAUSED, isPaused ? 1n : 0n)
  }

  noteTaken(clicks: number, ms: number): void {
    Atomics.add(this.#values, CLICKS, BigInt(clicks))
    Atomics.add(this.#values, BATCHES, 1n)
    Atomics.add(this.#values, MICROS, BigInt(Math.round(ms * 1_000)))
  }

  noteWithoutRow(clicks: number): void {
    Atomics.add(this.#values, WITHOUT_ROW, BigInt(clicks))
  }

  noteFailed(): void {
    Atomics.add(this.#values, FAILURES, 1n)
  }

  /** The two numbers are not set at once: who looks in between sees a place that is a little off. */
  notePosition({ segment, offset }: JournalPosition): void {
    Atomics.store(this.#values, OFFSET, BigInt(offset))
    Atomics.store(this.#values, SEGMENT, BigInt(segment))
  }

  #get(field: number): number {
    return Number(Atomics.load(this.#values, field))
  }
}
