import type { Clock } from '../../platform/time/clock.ts'
import { backoffMs } from '../../platform/work/async.ts'
import { ClickColumns } from '../click-columns.ts'
import type { ClickBatch, ClickWriter } from '../click-writer.ts'
import { listSegments, SEGMENT_BYTES_MAX } from '../journal/journal-folder.ts'
import {
  CLICK_BYTES,
  clicksIn,
  type JournalBatch,
  keepDamagedSegment,
  missingBetween,
  readBatch,
  removeIngestedSegments,
} from '../journal/journal-reader.ts'
import type { JournalPosition } from '../store/click-store.ts'
import {
  type DrainProgress,
  IngestionPaused,
  type JournalDamage,
  type JournalLocation,
} from './drain-messages.ts'

/** Clicks that arrive within this time share a batch. */
const BATCH_DELAY_MS = 20
const RETRY_BASE_MS = 200
const RETRY_CAP_MS = 5_000
const PAUSE_CHECK_MS = 1_000
/** Another process may ingest the same journal at the same time, but not for so long. */
const REFUSALS_MAX = 100

/** A position up to which clicks are ingested, and when that was, by `performance.now()`. */
type Checkpoint = { readonly position: JournalPosition; readonly atMs: number }

/** `hasMore`: it ended before the end of the journal. */
type ReadBatch = { readonly clicks: number; readonly hasMore: boolean }

export type DrainerOptions = {
  readonly writer: ClickWriter
  readonly clock: Clock
  readonly journal: JournalLocation
  /** Returns the segment that the journal's owner still appends to. */
  readonly activeSegment: () => number
  readonly progress: DrainProgress
  /**
   * How long ingested segments are kept, at least, so that a store that was restored to an older state can ingest them
   * again; Infinity keeps them forever.
   */
  readonly keepMs: number
  /** Called with the position up to which the journal is ingested. */
  readonly onPosition?: (position: JournalPosition) => void
  readonly onError: (error: unknown) => void
  readonly onDamage: (damage: JournalDamage) => void
}

/** Ingests a journal's clicks into the store, each exactly once. */
export class Drainer {
  readonly #options: DrainerOptions
  /** One for all batches: those of a busy service take 20 MiB. */
  readonly #clicks = new ClickColumns()
  #position: JournalPosition | undefined
  #positionKnown = false
  /** Whether the next batch may have been begun before (`ClickWriter.findEnd`). */
  #mayBeBegun = true
  /** Batches in a row that the writer refused. */
  #refusals = 0
  /** Segments before this position are removed once it is `keepMs` old. */
  #checkpoint: Checkpoint | undefined
  /** When clicks were read last, by `performance.now()`. */
  #readMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined
  #failures = 0
  #stopped = false

  constructor(options: DrainerOptions) {
    this.#options = options
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
    while ((await this.#drainBatch()) !== undefined) {
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
    // Reported by who has paused it.
    if (this.#options.progress.isPaused && !this.#stopped) return this.#schedule(PAUSE_CHECK_MS)
    try {
      const readMs = performance.now()
      let clicks: number | undefined
      let batch: ReadBatch | undefined
      do {
        batch = await this.#drainBatch()
        if (batch !== undefined) clicks = (clicks ?? 0) + batch.clicks
      } while (batch?.hasMore && !this.#stopped)
      this.#failures = 0
      if (clicks === undefined || this.#stopped) return
      const nowMs = performance.now()
      const counted = { clicks, sinceMs: readMs - this.#readMs, storingMs: nowMs - readMs }
      const intervalMs = batchIntervalMs(counted, this.#options.writer.batchMax)
      this.#readMs = readMs
      // `wake` had no effect while this run was in progress, so look again.
      this.#schedule(Math.max(BATCH_DELAY_MS, readMs + intervalMs - nowMs))
    } catch (error) {
      if (this.#failures === 0) this.#options.onError(error)
      this.#failures += 1
      if (this.#stopped) return
      const wait = backoffMs(this.#failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random())
      this.#schedule(RETRY_BASE_MS + wait)
    }
  }

  /**
   * Ingests one batch: the clicks, their counts and the journal's position are stored atomically. Returns undefined at
   * the journal's end.
   */
  async #drainBatch(): Promise<ReadBatch | undefined> {
    const { journal, writer, progress, clock, activeSegment } = this.#options
    if (progress.isPaused) throw new IngestionPaused('click ingestion is paused')
    if (!this.#positionKnown) {
      this.#position = await writer.findPosition(journal.id)
      this.#positionKnown = true
      this.#mayBeBegun = true
      if (this.#position !== undefined) this.#options.onPosition?.(this.#position)
      this.#checkpoint = undefined
    }
    const from = this.#position
    const end = this.#mayBeBegun ? await writer.findEnd?.(journal.id, from) : undefined
    const { batchMax } = writer
    const batch =
      readBatch(journal.folder, from, activeSegment(), batchMax, this.#clicks, end) ??
      this.#lostBatch(from, end)
    if (batch === undefined) return undefined
    const { clicks, next } = batch
    // The end of a journal may be lost with the machine, after its clicks were stored.
    const isShort = next.segment === end?.segment && clicks.length < batchMax
    const to = isShort ? end : next
    const missing = isShort ? end.offset - next.offset : 0
    const atMicros = clock.nowMicros()
    if (!(await this.#write({ journalId: journal.id, from, to, clicks, atMicros }))) {
      // An earlier commit succeeded although its response was lost, or the store was restored to an older
      // state. Continue from the position in the store.
      this.#positionKnown = false
      this.#refusals += 1
      if (this.#refusals < REFUSALS_MAX) return this.#drainBatch()
      this.#refusals = 0
      throw new Error(`the store refuses the clicks of journal ${journal.id} after its position`)
    }
    this.#refusals = 0
    this.#mayBeBegun = end !== undefined
    this.#position = to
    this.#options.onPosition?.(to)
    this.#reportLosses(batch, from, missing)
    this.#removeOld(to)
    const hasMore = end !== undefined || clicks.length >= batchMax || to.segment < activeSegment()
    return { clicks: clicks.length, hasMore }
  }

  /** Returns no clicks for a batch that was begun, whose segment is gone, where the journal goes on after it. */
  #lostBatch(
    from: JournalPosition | undefined,
    end: JournalPosition | undefined,
  ): JournalBatch | undefined {
    const { journal } = this.#options
    if (end === undefined) return undefined
    if (!listSegments(journal.folder).some((segment) => segment > end.segment)) return undefined
    this.#clicks.clear()
    const offset = from?.segment === end.segment ? from.offset : 0
    return { clicks: this.#clicks, next: { segment: end.segment, offset }, damaged: 0 }
  }

  #removeOld(position: JournalPosition): void {
    const { journal, activeSegment, keepMs } = this.#options
    const now: Checkpoint = { position, atMs: performance.now() }
    const checkpoint = keepMs === 0 ? now : (this.#checkpoint ?? now)
    this.#checkpoint = checkpoint
    if (now.atMs - checkpoint.atMs < keepMs) return
    removeIngestedSegments(journal.folder, checkpoint.position, activeSegment())
    this.#checkpoint = now
  }

  async #write(batch: ClickBatch): Promise<boolean> {
    const { writer, progress } = this.#options
    const startedMs = performance.now()
    try {
      const isIngested = await writer.write(batch)
      if (isIngested) {
        progress.add('clicks', batch.clicks.visits)
        progress.add('batches', 1)
        progress.add('micros', Math.round((performance.now() - startedMs) * 1_000))
      }
      return isIngested
    } catch (error) {
      progress.add('failures', 1)
      this.#mayBeBegun = true
      throw error
    }
  }

  /** Reports bytes of the batch that are damaged or `missing` after it, and segments that are missing before it. */
  #reportLosses(batch: JournalBatch, from: JournalPosition | undefined, missing: number): void {
    const { journal, onDamage } = this.#options
    const { clicks, next, damaged } = batch
    const missingSegments = missingBetween(journal.folder, from?.segment ?? 0, next.segment)
    const bytes = damaged + missing
    if (bytes === 0 && missingSegments === 0) return
    const bytesBefore = next.segment === from?.segment ? from.offset : 0
    const intact = next.offset - bytesBefore - damaged
    const bytesPerClick = clicks.length > 0 ? intact / clicks.length : CLICK_BYTES
    onDamage({
      journal: journal.id,
      bytes,
      missingSegments,
      clicks:
        clicksIn(bytes, bytesPerClick) +
        missingSegments * clicksIn(SEGMENT_BYTES_MAX, bytesPerClick),
      copy: damaged > 0 ? this.#keepDamagedSegment(next.segment) : undefined,
    })
  }

  /** Keeps a copy of the damaged segment. If that fails too, the clicks are counted anyway. */
  #keepDamagedSegment(segment: number): string | undefined {
    if (this.#options.keepMs === Number.POSITIVE_INFINITY) return undefined
    try {
      return keepDamagedSegment(this.#options.journal, segment)
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }
}

/** While more clicks come in a second, they wait for each other: a large batch writes fewer pages for each click. */
const GATHERING_RATE_MIN = 5_000
/** The oldest click is counted after this time at that rate, and at a higher one in proportion later. */
const GATHERING_AGE_MS_MIN = 2_500
/** The most: ten seconds, and time to spare for a busy machine. */
const GATHERING_AGE_MS_MAX = 8_500
/** Share of a batch to fill, so that it has room if somewhat more clicks come than before. */
const GATHERING_SHARE = 0.9
/** The time between two batches under less load. */
const LOAD_INTERVAL_MS = 400
/** Fewer clicks at a time are no load, and the next ones are counted at once. */
const LOAD_CLICKS_MIN = 100

/** What was counted at a time, in one batch or several. */
type Counted = {
  readonly clicks: number
  /** The time since the last clicks were read. */
  readonly sinceMs: number
  readonly storingMs: number
}

/**
 * Returns how long after the last clicks the next ones are read.
 *
 * @param clicksMax the number of clicks that a batch has at most
 */
function batchIntervalMs({ clicks, sinceMs, storingMs }: Counted, clicksMax: number): number {
  if (clicks < LOAD_CLICKS_MIN) return 0
  const perMs = clicks / sinceMs
  const load = (perMs * 1_000) / GATHERING_RATE_MIN
  if (load <= 1) return LOAD_INTERVAL_MS
  const ageMs = Math.min(GATHERING_AGE_MS_MAX, load * GATHERING_AGE_MS_MIN)
  // Storing takes in proportion to what comes until then.
  const untilOldMs = ageMs / (1 + storingMs / sinceMs)
  const untilFullMs = (GATHERING_SHARE * clicksMax) / perMs
  return Math.max(LOAD_INTERVAL_MS, Math.min(untilOldMs, untilFullMs))
}
