import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/time/clock.ts'
import { backoffMs } from '../../platform/work/async.ts'
import type { ClickWriter } from '../click-writer.ts'
import type { SealedSpool } from '../spool/spool-reader.ts'
import type { DrainProgress } from './drain-messages.ts'

/** How often to look for complete spools while there is none. */
const POLL_INTERVAL_MS = 2_000
const RETRY_BASE_MS = 1_000
const RETRY_CAP_MS = 30_000

type Options = {
  readonly writer: ClickWriter
  readonly clock: Clock
  readonly progress: DrainProgress
  readonly onError: (error: unknown) => void
}

/** Counts the clicks of imports, a batch of each spool in turn, with pauses in which the clicks of visitors go first. */
export class SpoolDrain {
  readonly #options: Options
  readonly #stopping = new AbortController()
  /** When each spool may be tried again that another process counts, by `performance.now()`. */
  readonly #takenUntilMs = new Map<string, number>()
  readonly #ended: Promise<void>

  constructor(options: Options) {
    this.#options = options
    this.#ended = this.#run()
  }

  /** Stops after the batch that is being counted; the rest stays in the spools. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#ended
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#isStopping) {
      try {
        const didCount = await this.#countRound()
        failures = 0
        if (!didCount) await this.#pause(POLL_INTERVAL_MS)
      } catch (error) {
        if (failures === 0) this.#options.onError(error)
        failures += 1
        await this.#pause(backoffMs(failures, RETRY_BASE_MS, RETRY_CAP_MS, Math.random()))
      }
    }
  }

  /** Counts a batch of each spool. Returns whether there was one to count. */
  async #countRound(): Promise<boolean> {
    const { writer, progress } = this.#options
    if (progress.isPaused) return false
    let waiting = 0
    let didCount = false
    for (const spool of await writer.spools.list()) {
      if (this.#isStopping) return didCount
      const outcome = await this.#countNext(spool)
      if (outcome !== 'end') waiting += 1
      if (outcome === 'counted') didCount = true
    }
    progress.set('spools', waiting)
    return didCount
  }

  async #countNext(spool: SealedSpool) {
    if (performance.now() < (this.#takenUntilMs.get(spool.id) ?? 0)) return 'taken'
    this.#takenUntilMs.delete(spool.id)
    const { writer, clock, progress } = this.#options
    const onCounted = (clicks: number) => progress.add('imported', clicks)
    const { outcome, pauseMs } = await countBatch({ writer, clock, onCounted }, spool)
    if (outcome === 'taken') this.#takenUntilMs.set(spool.id, performance.now() + pauseMs)
    else await this.#pause(pauseMs)
    return outcome
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }
}

/**
 * After each batch, so much time is left to others for each millisecond that it took: a million imported clicks must
 * not delay the clicks of visitors, nor the changes of links.
 */
const PAUSE_SHARE = 1
const PAUSE_MS_MIN = 10
/** How long to leave a spool to another process that counts it at the same time. */
const TAKEN_PAUSE_MS = 5_000

type Counting = {
  readonly writer: Pick<ClickWriter, 'spools' | 'findPosition' | 'write'>
  readonly clock: Clock
  /** Called with the number of counted clicks after each batch. */
  readonly onCounted: (clicks: number) => void
}

/** `taken`: another process has counted the batch. */
type CountedBatch = {
  readonly outcome: 'counted' | 'taken' | 'end'
  readonly pauseMs: number
}

/** Counts the next batch of a spool: each click once, whichever processes do so, and whenever they are killed. */
export async function countBatch(
  { writer, clock, onCounted }: Counting,
  { id, journalId }: SealedSpool,
): Promise<CountedBatch> {
  const startedMs = performance.now()
  const from = await writer.findPosition(journalId)
  const batch = await writer.spools.read(id, from)
  if (batch === undefined) return { outcome: 'end', pauseMs: 0 }
  const isCounted = await writer.write({ journalId, from, ...batch, atMicros: clock.nowMicros() })
  if (!isCounted) return { outcome: 'taken', pauseMs: TAKEN_PAUSE_MS }
  onCounted(batch.clicks.visits)
  const tookMs = performance.now() - startedMs
  return { outcome: 'counted', pauseMs: Math.max(PAUSE_MS_MIN, PAUSE_SHARE * tookMs) }
}

/** Counts all of a spool, for a program that has no drain thread. */
export async function countSpool(
  counting: Counting,
  spool: SealedSpool,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { outcome, pauseMs } = await countBatch(counting, spool)
    if (outcome === 'end') return
    await sleep(pauseMs, undefined, { signal })
  }
}
