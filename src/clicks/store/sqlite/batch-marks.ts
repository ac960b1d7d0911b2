import type { DatabaseSync } from 'node:sqlite'
import type { LinkCount } from '../click-day-rows.ts'

/**
 * What clicks.db keeps of each batch in the batch's own transaction, by which the files of a data
 * folder are known to belong together (judge-files.ts). terse.db is attached as `terse`: what is read
 * of it is on its disk.
 */
export class BatchMarks {
  readonly #noteBatch
  readonly #noteDay
  readonly #noteDrop
  readonly #forgetDays

  constructor(database: DatabaseSync) {
    const given = (table: string) =>
      `coalesce((select seq from terse.sqlite_sequence where name = '${table}'), 0)`
    this.#noteBatch = database.prepare(
      `update file_marks set batches = batches + 1, clicks = clicks + ?,
         changes_seen = ${given('changes')}, links_seen = ${given('links')}`,
    )
    this.#noteDay = database.prepare(
      `insert into raw_days (day, clicks) values (?, ?)
       on conflict do update set clicks = clicks + excluded.clicks`,
    )
    this.#noteDrop = database.prepare(
      'update file_marks set dropped_before = max(coalesce(dropped_before, ?1), ?1)',
    )
    this.#forgetDays = database.prepare('delete from raw_days where day < ?')
  }

  /**
   * @param rowsByDay rows that the days' files have for the batch
   * @param counts what the batch has added to the links' counters
   */
  noteBatch(rowsByDay: ReadonlyMap<number, number>, counts: readonly LinkCount[]): void {
    this.#noteBatch.run(counts.reduce((sum, count) => sum + count.clicks, 0))
    for (const [day, rows] of rowsByDay) this.#noteDay.run(day, rows)
  }

  /** From now on files of days before this one may be there or not. */
  noteDrop(oldestDay: number): void {
    this.#noteDrop.run(oldestDay)
    this.#forgetDays.run(oldestDay)
  }
}
