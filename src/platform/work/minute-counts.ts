const INTERVAL_MS = 60_000
/** Clients choose the kinds, so their number is bounded: further kinds in an interval are counted as `other`. */
const KINDS_MAX = 32
const OTHER = 'other'

/**
 * Counts events that any client can cause at will, and reports each kind at most once a minute, so that
 * clients cannot flood the log.
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

  /** Reports the counts since the last report. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const counts = this.#counts
    this.#counts = new Map()
    for (const [kind, count] of counts) this.#report(kind, count)
  }
}
