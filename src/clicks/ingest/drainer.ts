import type { Clock } from '../../platform/time/clock.ts'
import { backoffMs } from '../../platform/work/backoff.ts'
import type { ClickBatch, ClickWriter } from '../click-writer.ts'
import {
  backlogBytes,
  type JournalBatch,
  keepDamagedSegment,
  readBatch,
  removeIngestedSegments,
} from '../journal/journal-reader.ts'
import type { JournalPosition } from '../store/click-store.ts'
import { BatchGathering } from './batch-gathering.ts'
import type { JournalLocation } from './drain-messages.ts'
import type { DrainProgress } from './drain-progress.ts'

/** Clicks that arrive within this time share a batch. */
const BATCH_DELAY_MS = 20
/** A batch of at least this many clicks indicates load. */
const LOAD_CLICKS_MIN = 100
/** Under load, the time between the starts of two batches, and between two decisions to wait for more clicks. */
const LOAD_INTERVAL_MS = 400
const RETRY_BASE_MS = 200
const RETRY_CAP_MS = 5_000

/** The size of a batch. After a full batch more clicks are waiting. */
type BatchOutcome = 'nothing' | 'few' | 'many' | 'full'

/** A position up to which clicks are ingested, and when that was, by `performance.now()`. */
type Checkpoint = { readonly position: JournalPosition; readonly atMs: number }

/** Ingests a journal's clicks into the store, each exactly once. */
export class Drainer {
  readonly #writer: ClickWriter
  readonly #clock: Clock
  readonly #journal: JournalLocation
  readonly #activeSegment: () => number
  readonly #progress: DrainProgress
  readonly #keepMs: number
  readonly #onPosition: (position: JournalPosition) => void
  readonly #onError: (error: unknown) => void
  readonly #onDamage: (bytes: number, copy: string | undefined) => void
  readonly #gathering: BatchGathering
  #position: JournalPosition | undefined
  #positionKnown = false
  /** Segments before this position are removed once it is `keepMs` old. */
  #checkpoint: Checkpoint | undefined
  #timer: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined
  #failures = 0
  #stopped = false

  /**
   * @param options.activeSegment returns the segment that the journal's owner still appends to
   * @param options.keepMs how long ingested segments are kept, at least, so that a store that was restored
   *   to an older state can ingest them again; Infinity keeps them forever, the default is 0
   * @param options.onPosition called with the position up to which the journal is ingested
   */
  constructor(options: {
    writer: ClickWriter
    clock: Clock
    journal: JournalLocation
    activeSegment: () => number
    progress: DrainProgress
    keepMs?: number
    onPosition?: (position: JournalPosition) => void
    onError: (error: unknown) => void
    onDamage: (bytes: number, copy: string | undefined) => void
  }) {
    this.#progress = options.progress
    this.#keepMs = options.keepMs ?? 0
    this.#onPosition = options.onPosition ?? (() => {})
    this.#writer = options.writer
    this.#clock = options.clock
    this.#journal = options.journal
    this.#activeSegment = options.activeSegment
    this.#onError = options.onError
    this.#onDamage = options.onDamage
    this.#gathering = new BatchGathering(options.writer.batchMax)
  }

  /** Reports that the journal has new clicks. */
  wake(): void {
    if (this.#stopped || this.#timer !== undefined || this.#draining !== undefined) return
    this.#schedule(BATCH_DELAY_MS)
  }

  /** Reads the position from the store again, in case the store was restored to an older state. */
  recheck(): void {
    this.#positionKnown = false
    this.wake()
  }

  /** Ingests everything that is in the journal now. Throws if the store fails. */
  async drain(): Promise<void> {
    this.#positionKnown = false
    while ((await this.#drainBatch()) !== 'nothing') {
      // One transaction per batch, so that other writers get their turn.
    }
  }

  /** Stops. Clicks that are not ingested stay in the journal. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#draining
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#draining = this.#run().finally(() => {
        this.#draining = undefined
      })
    }, delayMs)
  }

  async #run(): Promise<void> {
    try {
      let startedMs = performance.now()
      if (this.#shouldWait(startedMs)) {
        this.#schedule(LOAD_INTERVAL_MS)
        return
      }
      let outcome = await this.#drainBatch()
      while (outcome === 'full' && !this.#stopped) {
        startedMs = performance.now()
        outcome = await this.#drainBatch()
      }
      this.#failures = 0
      if (outcome === 'nothing' || this.#stopped) return
      // `wake` had no effect while this run was in progress, so look again.
      const pacedMs = outcome === 'many' ? startedMs + LOAD_INTERVAL_MS - performance.now() : 0
      this.#schedule(Math.max(BATCH_DELAY_MS, pacedMs))
    } catch (error) {
      if (this.#failures === 0) this.#onError(error)
      this.#failures += 1
      if (this.#stopped) return
      const wait = backoffMs(this.#failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random())
      this.#schedule(RETRY_BASE_MS + wait)
    }
  }

  /** Whether clicks wait for more of them. */
  #shouldWait(nowMs: number): boolean {
    if (!this.#positionKnown || this.#failures > 0 || this.#stopped) return false
    const bytes = backlogBytes(this.#journal.folder, this.#position)
    return this.#gathering.shouldWait(nowMs, LOAD_INTERVAL_MS, bytes)
  }

  /** Ingests one batch. The clicks, their counts and the journal's position are stored atomically. */
  async #drainBatch(): Promise<BatchOutcome> {
    if (this.#progress.isPaused) throw new Error('click ingestion is paused')
    const { id, folder } = this.#journal
    const { batchMax } = this.#writer
    if (!this.#positionKnown) {
      this.#position = await this.#writer.findPosition(id)
      this.#positionKnown = true
      if (this.#position !== undefined) this.#onPosition(this.#position)
      this.#checkpoint = undefined
    }
    const from = this.#position
    const readMs = performance.now()
    const batch = readBatch(folder, from, this.#activeSegment(), batchMax)
    if (batch === undefined) return 'nothing'
    const isIngested = await this.#write({
      journalId: id,
      from,
      to: batch.next,
      clicks: batch.clicks,
      atMicros: this.#clock.nowMicros(),
    })
    if (!isIngested) {
      // An earlier commit succeeded although its response was lost, or the store was restored to an older
      // state. Continue from the position in the store.
      this.#positionKnown = false
      return 'full'
    }
    this.#position = batch.next
    this.#gathering.noteBatch({
      readMs,
      storedMs: performance.now(),
      clicks: batch.clicks.length,
      bytes: batch.next.offset - (from?.segment === batch.next.segment ? from.offset : 0),
    })
    this.#onPosition(batch.next)
    if (batch.damaged > 0) this.#keepDamagedSegment(batch)
    this.#removeOld(batch.next)
    if (batch.clicks.length >= batchMax) return 'full'
    return batch.clicks.length < LOAD_CLICKS_MIN ? 'few' : 'many'
  }

  #removeOld(position: JournalPosition): void {
    const now: Checkpoint = { position, atMs: performance.now() }
    const checkpoint = this.#keepMs === 0 ? now : (this.#checkpoint ?? now)
    this.#checkpoint = checkpoint
    if (now.atMs - checkpoint.atMs < this.#keepMs) return
    removeIngestedSegments(this.#journal.folder, checkpoint.position, this.#activeSegment())
    this.#checkpoint = now
  }

  async #write(batch: ClickBatch): Promise<boolean> {
    const startedMs = performance.now()
    try {
      const isIngested = await this.#writer.write(batch)
      if (isIngested)
        this.#progress.noteIngested(batch.clicks.visits, performance.now() - startedMs)
      return isIngested
    } catch (error) {
      this.#progress.noteFailed()
      throw error
    }
  }

  /** Keeps a copy of the damaged segment. If that fails too, the clicks are counted anyway. */
  #keepDamagedSegment({ damaged, next }: JournalBatch): void {
    let copy: string | undefined
    try {
      if (this.#keepMs !== Number.POSITIVE_INFINITY)
        copy = keepDamagedSegment(this.#journal, next.segment)
    } catch (error) {
      this.#onError(error)
    }
    this.#onDamage(damaged, copy)
  }
}
