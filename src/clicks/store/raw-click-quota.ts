import { CLICK_FLAGS } from '../click.ts'
import type { ClickColumns } from '../click-columns.ts'
import type { ClickBatch } from '../click-writer.ts'
import { minuteOf } from '../tally/click-day.ts'
import type { Owner, OwnerOf } from './batch-deltas.ts'

/** The most counters (one per workspace and minute) in memory. Dropping the oldest only lifts its limit. */
const MINUTES_MAX = 65_536

/** A click to store for exports. */
export type NewRawClick = {
  /** Of the click in its batch. */
  readonly index: number
  /** The number of visits that the row represents. */
  readonly count: number
  /** Undefined for a deleted link. */
  readonly owner: Owner | undefined
}

/**
 * Decides which clicks of a batch get a row for exports.
 *
 * Capped clicks share one row per link and minute. The number of all rows is limited per workspace and
 * minute: nothing else limits the disk space that clicks from many addresses, or on many links, can take.
 * Clicks without a row are still counted in charts.
 */
export class RawClickQuota {
  readonly #perMinute: number
  readonly #onRefused: (visits: number) => void
  /** Rows written so far by workspace and minute, oldest entry first. */
  readonly #written = new Map<string, number>()

  /**
   * @param options.rawPerMinute the most rows per workspace and minute; 0 for no limit
   * @param options.onRawRefused called with the number of visits that got no row
   */
  constructor(options: { rawPerMinute: number; onRawRefused: (visits: number) => void }) {
    this.#perMinute = options.rawPerMinute
    this.#onRefused = options.onRawRefused
  }

  /**
   * Returns the rows to write for these clicks. They count towards the limit after `noteWritten`. Each click of an import
   * gets a row of its own without a limit, unless its link is deleted.
   */
  plan(
    { clicks, imported }: Pick<ClickBatch, 'clicks' | 'imported'>,
    indexes: Uint32Array,
    ownerOf: OwnerOf,
  ): readonly NewRawClick[] {
    const isLimited = this.#perMinute > 0 && imported === undefined
    const counts = imported === undefined ? countCapped(clicks, indexes) : new Map<number, number>()
    const planned = new Map<string, number>()
    const keys = new KeyCache()
    const rows: NewRawClick[] = []
    for (const index of indexes) {
      const count = counts.get(index) ?? clicks.count[index] ?? 0
      if (count === 0) continue
      const owner = ownerOf(clicks.link_seq[index] ?? 0)
      if (imported !== undefined && owner === undefined) continue
      if (isLimited && !this.#reserve(planned, keys.of(clicks.at[index] ?? 0, owner))) continue
      rows.push({ index, count, owner })
    }
    return rows
  }

  /** Counts a row in `planned`, unless its workspace has all rows of the minute. */
  #reserve(planned: Map<string, number>, key: string): boolean {
    const count = planned.get(key) ?? this.#written.get(key) ?? 0
    if (count >= this.#perMinute) return false
    planned.set(key, count + 1)
    return true
  }

  /**
   * Records that planned rows have been committed. Has no effect for those of an import.
   *
   * @param visits the number of visits of the clicks for which the rows were planned
   */
  noteWritten(
    { clicks, imported }: Pick<ClickBatch, 'clicks' | 'imported'>,
    visits: number,
    rows: readonly NewRawClick[],
  ): void {
    if (this.#perMinute === 0 || imported !== undefined) return
    const keys = new KeyCache()
    let written = 0
    for (const { index, count, owner } of rows) {
      const key = keys.of(clicks.at[index] ?? 0, owner)
      written += count
      this.#written.set(key, (this.#written.get(key) ?? 0) + 1)
    }
    for (const key of this.#written.keys()) {
      if (this.#written.size <= MINUTES_MAX) break
      this.#written.delete(key)
    }
    if (visits > written) this.#onRefused(visits - written)
  }
}

/** The keys of counters. Clicks come in the order of time, so an owner's last one is nearly always the next. */
class KeyCache {
  readonly #last = new Map<Owner | undefined, { readonly minute: number; readonly key: string }>()

  of(at: number, owner: Owner | undefined): string {
    const minute = minuteOf(at)
    const last = this.#last.get(owner)
    if (last?.minute === minute) return last.key
    const key = `${minute} ${owner?.workspace_id ?? ''}`
    this.#last.set(owner, { minute, key })
    return key
  }
}

/** Counts the capped clicks of each link and minute: all for the first of them, which gets a row, and 0 for the others. */
function countCapped(
  { flags, link_seq, at, count }: ClickColumns,
  indexes: Uint32Array,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  const firsts = new Map<string, number>()
  for (const index of indexes) {
    if (flags[index] !== CLICK_FLAGS.capped) continue
    const linkMinute = `${link_seq[index]} ${minuteOf(at[index] ?? 0)}`
    const first = firsts.get(linkMinute) ?? index
    firsts.set(linkMinute, first)
    counts.set(index, 0)
    counts.set(first, (counts.get(first) ?? 0) + (count[index] ?? 0))
  }
  return counts
}
