import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '../../../storage/clickhouse/clickhouse.ts'

const BEAT_MS = 5_000
/** A run that has not been seen for so long has ended. */
const SEEN_SECONDS = 30
const RETRY_MS = 2_000

/** Ensures that one process at a time moves clicks, by rows that each keeps fresh. */
export class MoveRun {
  readonly #db: ClickHouse
  readonly #run = randomUUID()
  readonly #lost = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #seenAtMs = 0

  constructor(db: ClickHouse) {
    this.#db = db
  }

  /** Aborts when another process may have begun to move clicks. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Waits until no other process moves clicks. */
  async begin(onWait: () => void, signal: AbortSignal): Promise<void> {
    for (let waits = 0; ; waits += 1) {
      signal.throwIfAborted()
      if (!(await this.#isTaken())) {
        await this.#beat()
        // Of two that begin at the same time, the one with the lower number goes on.
        if (!(await this.#isTaken())) break
        await this.end()
      }
      if (waits === 0) onWait()
      await sleep(RETRY_MS, undefined, { signal })
    }
    this.#timer = setInterval(() => this.#beatOrLose(), BEAT_MS)
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    await this.#db.command('insert into move_runs (run, has_ended) select {run:UUID}, 1', {
      params: { run: this.#run },
    })
  }

  async #isTaken(): Promise<boolean> {
    const [found] = await this.#db.rows<{ readonly others: number }>(
      `select count() as others from (
        select run, argMax(has_ended, seen_at) as is_over, max(seen_at) as last from move_runs group by run)
      where is_over = 0 and last > now64(6) - interval ${SEEN_SECONDS} second
        and run != {run:UUID} and ({begun:UInt8} = 0 or toString(run) < toString({run:UUID}))`,
      { params: { run: this.#run, begun: this.#seenAtMs === 0 ? 0 : 1 } },
    )
    return (found?.others ?? 0) > 0
  }

  async #beat(): Promise<void> {
    await this.#db.command('insert into move_runs (run, has_ended) select {run:UUID}, 0', {
      params: { run: this.#run },
    })
    this.#seenAtMs = performance.now()
  }

  #beatOrLose(): void {
    this.#beat().catch((error) => {
      if (performance.now() - this.#seenAtMs > (SEEN_SECONDS * 1_000) / 2) this.#lost.abort(error)
    })
  }
}
