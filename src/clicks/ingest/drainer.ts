import type { Clock } from '../../platform/time/clock.ts'
import { backoffMs } from '../../platform/work/backoff.ts'
import { countVisits } from '../click.ts'
import type { ClickBatch, ClickWriter } from '../click-writer.ts'
import { type JournalBatch, readBatch, removeRead, setAside } from '../journal/journal-reader.ts'
import type { JournalPosition } from '../store/click-store.ts'
import type { JournalPlace } from './drain-messages.ts'
import type { DrainProgress } from './drain-progress.ts'

/** Clicks of this long are taken in together. */
const GATHER_MS = 20
/**
 * From the beginning of a batch of so many clicks, which tells of load, to that of the next: the more
 * clicks share a batch, the fewer pages are written for each. All are still counted within a second.
 */
const LOAD_CLICKS_MIN = 100
const PACE_MS = 400
const RETRY_BASE_MS = 200
const RETRY_CAP_MS = 5_000

/** Of a batch; after a full one another waits already. */
type BatchOutcome = 'nothing' | 'few' | 'many' | 'full'

/** A place up to which clicks have been taken in, and when, by `performance.now()`. */
type Taken = { readonly position: JournalPosition; readonly atMs: number }

/** Takes a journal's clicks into the store, each exactly once. */
export class Drainer {
  readonly #writer: ClickWriter
  readonly #clock: Clock
  readonly #journal: JournalPlace
  readonly #writing: () => number
  readonly #progress: DrainProgress
  readonly #keepMs: number
  readonly #onPosition: (position: JournalPosition) => void
  readonly #onError: (error: unknown) => void
  readonly #onDamage: (bytes: number, copy: string | undefined) => void
  #position: JournalPosition | undefined
  #positionKnown = false
  /** Segments before this go once it is old enough. */
  #taken: Taken | undefined
  #timer: NodeJS.Timeout | undefined
  #draining: Promise<void> | undefined
  #failures = 0
  #stopped = false

  /**
   * @param options.writing the segment to which the journal's owner still appends
   * @param options.keepMs for how long, at least, the segments stay that have been taken in, so that a
   *   store which goes on from an older state is given them again; Infinity for ever, 0 when left out
   * @param options.onPosition told how far the journal has been taken in
   */
  constructor(options: {
    writer: ClickWriter
    clock: Clock
    journal: JournalPlace
    writing: () => number
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
    this.#writing = options.writing
    this.#onError = options.onError
    this.#onDamage = options.onDamage
  }

  /** Says that there is something to read. */
  wake(): void {
    if (this.#stopped || this.#timer !== undefined || this.#draining !== undefined) return
    this.#schedule(GATHER_MS)
  }

  /** Looks anew how far the store has come, which may go on from an older state. */
  recheck(): void {
    this.#positionKnown = false
    this.wake()
  }

  /** Takes in everything that is there now. Throws where the store does not take it. */
  async drain(): Promise<void> {
    this.#positionKnown = false
    while ((await this.#drainBatch()) !== 'nothing') {
      // Batch by batch, so that other writers have their turn between two.
    }
  }

  /** Stops; what has not been taken in stays in the journal. */
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
      let outcome = await this.#drainBatch()
      while (outcome === 'full' && !this.#stopped) {
        startedMs = performance.now()
        outcome = await this.#drainBatch()
      }
      this.#failures = 0
      if (outcome === 'nothing' || this.#stopped) return
      // What was written meanwhile has woken nobody.
      const pacedMs = outcome === 'many' ? startedMs + PACE_MS - performance.now() : 0
      this.#schedule(Math.max(GATHER_MS, pacedMs))
    } catch (error) {
      if (this.#failures === 0) this.#onError(error)
      this.#failures += 1
      if (this.#stopped) return
      const wait = backoffMs(this.#failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random())
      this.#schedule(RETRY_BASE_MS + wait)
    }
  }

  /**
   * The clicks, their counters and tallies, and the journal's position: a killed process leaves all of
   * them or none.
   */
  async #drainBatch(): Promise<BatchOutcome> {
    if (this.#progress.isPaused) throw new Error('nothing can be stored at present')
    const { id, folder } = this.#journal
    const { batchMax } = this.#writer
    if (!this.#positionKnown) {
      this.#position = await this.#writer.findPosition(id)
      this.#positionKnown = true
      if (this.#position !== undefined) this.#onPosition(this.#position)
      this.#taken = undefined
    }
    const from = this.#position
    const batch = readBatch(folder, from, this.#writing(), batchMax)
    if (batch === undefined) return 'nothing'
    const taken = await this.#take({
      journalId: id,
      from,
      to: batch.next,
      clicks: batch.clicks,
      atMicros: this.#clock.nowMicros(),
    })
    if (!taken) {
      // The commit of an earlier try had gone through though its answer was lost, or the store has lost
      // what it had taken: read on from where it is.
      this.#positionKnown = false
      return 'full'
    }
    this.#position = batch.next
    this.#onPosition(batch.next)
    if (batch.damaged > 0) this.#setAside(batch)
    this.#removeOld(batch.next)
    if (batch.clicks.length >= batchMax) return 'full'
    return batch.clicks.length < LOAD_CLICKS_MIN ? 'few' : 'many'
  }

  #removeOld(position: JournalPosition): void {
    const now: Taken = { position, atMs: performance.now() }
    const taken = this.#keepMs === 0 ? now : (this.#taken ?? now)
    this.#taken = taken
    if (now.atMs - taken.atMs < this.#keepMs) return
    removeRead(this.#journal.folder, taken.position, this.#writing())
    this.#taken = now
  }

  async #take(batch: ClickBatch): Promise<boolean> {
    const startedMs = performance.now()
    try {
      const taken = await this.#writer.take(batch)
      if (taken) this.#progress.noteTaken(countVisits(batch.clicks), performance.now() - startedMs)
      return taken
    } catch (error) {
      this.#progress.noteFailed()
      throw error
    }
  }

  /** Keeps the damaged segment; that this may fail too must keep no click from being counted. */
  #setAside({ damaged, next }: JournalBatch): void {
    let copy: string | undefined
    try {
      if (this.#keepMs !== Number.POSITIVE_INFINITY) copy = setAside(this.#journal, next.segment)
    } catch (error) {
      this.#onError(error)
    }
    this.#onDamage(damaged, copy)
  }
}
