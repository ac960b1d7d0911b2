import type { DatabaseSync } from 'node:sqlite'
import { type GivenNumbers, readGivenNumbers } from '../../../storage/sqlite/file-marks.ts'
import type { LinkCount } from '../click-day-rows.ts'

/** Opening balances are on an earlier day, which has no file. */
const FIRST_DAY = 0

/**
 * Records each batch in clicks.db, within the batch's transaction. From these marks judge-files.ts determines
 * whether the files of a data folder belong together. terse.db is attached as `terse`. Reads of it also see what is
 * not on disk yet, so that is synced before clicks.db records that it has seen it.
 */
export class BatchMarks {
  readonly #database: DatabaseSync
  readonly #syncLinks: () => void
  readonly #noteBatch
  readonly #noteDay
  readonly #noteDrop
  readonly #forgetDays
  readonly #findDrop
  /** The numbers of terse.db that are known to be on disk. */
  #synced: GivenNumbers = { links: 0, changes: 0 }

  /** @param syncLinks returns when everything that was committed to terse.db is on disk */
  constructor(database: DatabaseSync, syncLinks: () => void) {
    this.#database = database
    this.#syncLinks = syncLinks
    this.#noteBatch = database.prepare(
      `update file_marks set batches = batches + 1, clicks = clicks + ?, changes_seen = ?, links_seen = ?`,
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
    const seen = readGivenNumbers(this.#database, 'terse')
    if (seen.links !== this.#synced.links || seen.changes !== this.#synced.changes) {
      this.#syncLinks()
      this.#synced = seen
    }
    const clicks = counts.reduce((sum, count) => sum + count.clicks, 0)
    this.#noteBatch.run(clicks, seen.changes, seen.links)
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
