import type { ClickColumns } from './click-columns.ts'
import type { ImportedBatch, SpoolReader } from './spool/spool-reader.ts'
import type { JournalPosition } from './store/click-store.ts'
import type { ErasedClicks } from './store/raw-click-source.ts'

/** Consecutive clicks of a journal. */
export type ClickBatch = {
  readonly journalId: string
  /** The position of the first click; undefined for the journal's beginning. */
  readonly from: JournalPosition | undefined
  /** The position after the last click. */
  readonly to: JournalPosition
  readonly clicks: ClickColumns
  /** The time of ingestion, in microseconds. */
  readonly atMicros: number
  /** Set for clicks of an import. */
  readonly imported?: ImportedBatch
}

/** Writes clicks to the database. Every operation may throw `Failure.unavailable`. */
export type ClickWriter = {
  /** The number of clicks that a batch should have at most. */
  readonly batchMax: number
  /** Reads the clicks of imports. */
  readonly spools: SpoolReader
  findPosition(journalId: string): Promise<JournalPosition | undefined>
  /**
   * Returns where the batch that begins at `from` must end at the latest, because it, or the next one, was begun before;
   * undefined if it may end anywhere. Called after a failure, and wherever the position is not the end of the last batch.
   */
  findEnd?(
    journalId: string,
    from: JournalPosition | undefined,
  ): Promise<JournalPosition | undefined>
  /**
   * Stores the clicks, adds them to counters and tallies, and moves the journal's position, atomically.
   * Returns false if the journal's position is not `from`: then the clicks were ingested before.
   *
   * After a failure the caller retries from the same position. The batch must then begin with the same
   * clicks, in the same order; it may have more unless `findEnd` returns its end.
   */
  write(batch: ClickBatch): Promise<boolean>
  /**
   * Prepares storage for the coming days, and drops the raw clicks of days before `oldestDay`, if given. A
   * node whose clock is ahead drops no more than the other nodes would.
   *
   * @param signal ends what can wait for the next run
   */
  maintain(today: number, oldestDay: number | undefined, signal?: AbortSignal): Promise<void>
  /**
   * Removes the counts of deleted links, or everything that is left of a workspace's clicks, in small transactions.
   * Clicks of theirs must no longer be ingested. Idempotent: after a failure it is called again.
   */
  erase(erased: ErasedClicks): Promise<void>
  close(): Promise<void>
}
