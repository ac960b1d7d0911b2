const INTERVAL_MS = 60_000
/** What strangers send may be of any kind; past so many in one interval they are counted together. */
const KINDS_MAX = 32
const OTHER = 'other'

/**
 * Counts what strangers can cause as often as they like, and reports each kind once a minute, so that
 * nobody fills the log.
 */
export class MinuteCounts {
  readonly #report: (kind: string, count: number) => void
  readonly #intervalMs: number
  #counts = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(report: (kind: string, count: number) => void, intervalMs = INTERVAL_MS) {
    this.#report = report
    this.#intervalMs = intervalMs
  }

  note(kind: string): void {
    this.#timer ??= setTimeout(() => this.flush(), this.#intervalMs).unref()
    const name = this.#counts.has(kind) || this.#counts.size < KINDS_MAX ? kind : OTHER
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  /** Reports what was counted since the last report. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counts = this.#counts
    this.#counts = new Map()
    for (const [kind, count] of counts) this.#report(kind, count)
  }
}
