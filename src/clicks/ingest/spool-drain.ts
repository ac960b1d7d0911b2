import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/time/clock.ts'
import { backoffMs } from '../../platform/work/backoff.ts'
import type { ClickWriter } from '../click-writer.ts'
import type { SealedSpool } from '../spool/spool-reader.ts'
import { countBatch } from './count-spool.ts'
import type { DrainProgress } from './drain-progress.ts'

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
