import type { Logger } from 'pino'

const QUIET_MS = 60_000

type Fields = Readonly<Record<string, unknown>>
type State = {
  readonly sinceMs: number
  count: number
  /** `count` when the timer last ran. */
  countBefore: number
  readonly timer: NodeJS.Timeout | undefined
}

type Options = {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly level: 'warn' | 'error'
  /** The line when a state begins, with the fields of its first report. */
  readonly begins: string
  /** The line when it has ended, with how often it was reported (`count`) and for how long (`seconds`). */
  readonly ends: string
  /**
   * A state ends when it was not reported for this long, at most twice as long; 60 s when left out. Infinity for
   * states whose end the caller reports.
   */
  readonly quietMs?: number
}

/**
 * Logs a state that many events report, such as a full disk that refuses every request: one line when it begins, and
 * one when it has ended. States of different kinds begin and end independently.
 */
export class StateLog {
  readonly #options: Options
  readonly #states = new Map<string, State>()

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * Reports that a state lasts.
   *
   * @param kind one of a few fixed words; the field `kind` of both lines
   * @param fields of the line that is logged if the state begins
   * @param count of the events that this report stands for
   */
  report(kind: string, fields: Fields = {}, count = 1): void {
    const state = this.#states.get(kind)
    if (state !== undefined) {
      state.count += count
      return
    }
    const { log, level, begins, quietMs = QUIET_MS } = this.#options
    const timer =
      quietMs === Number.POSITIVE_INFINITY
        ? undefined
        : setInterval(() => this.#endIfQuiet(kind), quietMs).unref()
    this.#states.set(kind, { sinceMs: performance.now(), count, countBefore: 0, timer })
    log[level]({ kind, ...fields }, begins)
  }

  /** Reports that the states of all kinds have ended. */
  endAll(): void {
    for (const kind of this.#states.keys()) this.end(kind)
  }

  /** Reports that a state has ended. No effect on a state that does not last. */
  end(kind: string): void {
    const state = this.#states.get(kind)
    if (state === undefined) return
    clearInterval(state.timer)
    this.#states.delete(kind)
    const { log, ends } = this.#options
    const seconds = Math.round((performance.now() - state.sinceMs) / 1_000)
    log.info({ kind, count: state.count, seconds }, ends)
  }

  #endIfQuiet(kind: string): void {
    const state = this.#states.get(kind)
    if (state === undefined) return
    if (state.count === state.countBefore) this.end(kind)
    else state.countBefore = state.count
  }
}
