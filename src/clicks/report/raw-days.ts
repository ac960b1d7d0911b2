import { SCAN_MS_MAX, ScanTooLong } from '../../platform/database/scan-too-long.ts'
import type { ScanLimits } from '../../platform/database/scans.ts'
import type { Store } from '../../platform/database/store.ts'
import { Failure } from '../../platform/failure.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ClickReports } from '../store/click-reports.ts'
import type { ClickFilter } from './click-filter.ts'
import type { ClickScope, Counts, DayOfClicks } from './day-of-clicks.ts'
import { rollupDays } from './day-source.ts'
import { QUARTER_MICROS, QUARTERS_PER_DAY, type Quarters } from './intervals.ts'
import { Series } from './series.ts'

/** The maximum number of raw clicks that one report may read. */
const CLICKS_MAX = 1_000_000

const DAY_MICROS = QUARTERS_PER_DAY * QUARTER_MICROS

const NO_FILTER: ClickFilter = new Map()

export type RawDaysContext = {
  readonly store: Store<{ readonly reports: ClickReports }>
  readonly clock: Clock
  /** How long raw clicks are kept; 0 keeps them forever. */
  readonly retentionDays: number
}

type RawDaysQuery = {
  readonly scope: ClickScope
  readonly quarters: Quarters
  /** Ends the reading when it aborts. */
  readonly signal: AbortSignal | undefined
}

/** The raw clicks of a period, as far as a report may count them. */
export class RawDays {
  readonly #ctx: RawDaysContext
  readonly #query: RawDaysQuery
  readonly #names: ReadonlySet<string>
  #counted: Counts = { persons: 0, others: 0 }

  /** @param names of what needs raw clicks, for messages */
  constructor(ctx: RawDaysContext, query: RawDaysQuery, names: ReadonlySet<string>) {
    this.#ctx = ctx
    this.#query = query
    this.#names = names
  }

  /**
   * Returns the sums of the period's days.
   *
   * @throws {Failure} `validation_failed` if raw clicks are too old to be kept, or too many
   */
  async count(): Promise<readonly DayOfClicks[]> {
    const { store, clock, retentionDays } = this.#ctx
    const { scope, quarters, signal } = this.#query
    const { from, to } = quarters
    const today = Math.floor(clock.nowMicros() / DAY_MICROS)
    if (retentionDays > 0 && from < (today - retentionDays) * QUARTERS_PER_DAY) {
      throw this.#refusal(
        `are kept for ${retentionDays} days (request a later from, or only one of these)`,
      )
    }
    let visits = 0
    const days: DayOfClicks[] = []
    const counted = new Series([from, to])
    const source = rollupDays(store.read.reports, scope, NO_FILTER, undefined, signal)
    for await (const day of source([from, to])) {
      visits += day.total.persons + day.total.others
      counted.add(day.day, day.total)
      days.push(day)
    }
    if (visits > CLICKS_MAX) {
      throw this.#refusal(
        `are limited to ${CLICKS_MAX}, and the requested days have ${visits} (request fewer days, or only one of these)`,
      )
    }
    this.#counted = counted.counts(0)
    return days
  }

  /**
   * Reads all of them, after `count`.
   *
   * @param read returns how many visits it has read
   * @throws {Failure} `validation_failed` when reading takes too long, or if some were not kept
   */
  async read<T extends { readonly visits: number }>(
    read: (fromMicros: number, toMicros: number, limits: ScanLimits) => Promise<T>,
  ): Promise<T> {
    const { quarters, signal } = this.#query
    const { from, to } = quarters
    try {
      const limits = { msMax: SCAN_MS_MAX, signal }
      const found = await read(from * QUARTER_MICROS, to * QUARTER_MICROS, limits)
      const counted = this.#counted.persons + this.#counted.others
      if (found.visits >= counted) return found
      throw this.#refusal(
        `of these days were not all kept: ${found.visits} of ${counted} (request other days, or only one of these)`,
      )
    } catch (error) {
      if (!(error instanceof ScanTooLong)) throw error
      throw this.#refusal(
        `of these days take longer than ${SCAN_MS_MAX / 1_000} s to read (request fewer days, or only one of these)`,
      )
    }
  }

  #refusal(why: string): Failure {
    const names = [...this.#names].join(' and ')
    const text =
      this.#names.size > 1
        ? `cannot be had for ${names} together: single clicks ${why}`
        : `cannot be had for ${names}: single clicks ${why.replace(', or for one of these alone', '')}`
    return Failure.invalid({ from: [text] })
  }
}
