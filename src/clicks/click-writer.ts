import type { Click } from './click.ts'
import type { JournalPosition } from './store/click-store.ts'

/** Clicks that stand one after the other in a journal. */
export type ClickBatch = {
  readonly journalId: string
  /** Where the first of them stands; undefined for the journal's beginning. */
  readonly from: JournalPosition | undefined
  /** Where to read on after the last. */
  readonly to: JournalPosition
  readonly clicks: readonly Click[]
  /** When they are taken in, in microseconds. */
  readonly atMicros: number
}

/** Takes clicks into the database. Every operation may throw `Failure.unavailable`. */
export type ClickWriter = {
  /** Clicks that are best taken in at a time. */
  readonly batchMax: number
  findPosition(journalId: string): Promise<JournalPosition | undefined>
  /**
   * Keeps the clicks, adds them to the counters and the tallies, and moves the journal's position:
   * all of it or nothing, whenever the process is killed. False when the journal no longer stands at
   * `from`: then its clicks have been taken in before.
   *
   * A batch that was not taken is asked for again from the same place: then it must begin with the
   * same clicks, in the same order, and have no fewer.
   */
  take(batch: ClickBatch): Promise<boolean>
  /**
   * What time brings: makes room for the coming days, and drops the raw clicks of days before
   * `oldestDay`, where that is given. Where nodes have clocks of their own, one that is ahead drops no more
   * than the others would.
   */
  maintain(today: number, oldestDay: number | undefined): Promise<void>
  close(): Promise<void>
}
