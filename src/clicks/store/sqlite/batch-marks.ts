import type { DatabaseSync } from 'node:sqlite'
import type { LinkCount } from '../click-day-rows.ts'

/** Opening balances are on an earlier day, which has no file. */
const FIRST_DAY = 0

/**
 * Records each batch in clicks.db, within the batch's transaction. From these marks judge-files.ts determines
 * whether the files of a data folder belong together. terse.db is attached as `terse`, so reads of it see
 * only what is on disk.
 */
export class BatchMarks {
  readonly #noteBatch
  readonly #noteDay
  readonly #noteDrop
  readonly #forgetDays
  readonly #findDrop

  constructor(database: DatabaseSync) {
    const lastSeqOf = (table: string) =>
      `coalesce((select seq from terse.sqlite_sequence where name = '${table}'), 0)`
    this.#noteBatch = database.prepare(
      `update file_marks set batches = batches + 1, clicks = clicks + ?,
         changes_seen = ${lastSeqOf('changes')}, links_seen = ${lastSeqOf('links')}`,
    )
    this.#noteDay = database.prepare(
      `insert into raw_days (day, clicks) values (?, ?)
       on conflict do update set clicks = clicks + excluded.clicks`,
    )
    this.#noteDrop = database.prepare(
      'update file_marks set dropped_before = max(coalesce(dropped_before, ?1), ?1)',
    )
    this.#findDrop = database.prepare('select dropped_before from file_marks')
    this.#forgetDays = database.prepare('delete from raw_days where day < ?')
  }

  /**
   * @param rowsByDay the number of rows of the batch in each day's file
   * @param counts what the batch adds to the links' counters
   */
  noteBatch(rowsByDay: ReadonlyMap<number, number>, counts: readonly LinkCount[]): void {
    this.#noteBatch.run(counts.reduce((sum, count) => sum + count.clicks, 0))
    for (const [day, rows] of rowsByDay) this.#noteDay.run(day, rows)
  }

  /** Returns the first day whose file is kept; it never moves back. */
  oldestDay(): number {
    return Number(this.#findDrop.get()?.dropped_before ?? FIRST_DAY)
  }

  /** Records that files of earlier days may be missing from now on. */
  noteDrop(oldestDay: number): void {
    this.#noteDrop.run(oldestDay)
    this.#forgetDays.run(oldestDay)
  }
}
