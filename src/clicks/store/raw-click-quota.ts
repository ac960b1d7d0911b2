import { CLICK_FLAGS, type Click, countVisits } from '../click.ts'
import { minuteOf } from '../tally/click-day.ts'
import type { Owner } from './batch-deltas.ts'

/** The most counters (one per workspace and minute) in memory. Dropping the oldest only lifts its limit. */
const MINUTES_MAX = 65_536

/** A click to store for exports. */
export type RawClickRow = {
  readonly click: Click
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
   * @param options.perMinute the most rows per workspace and minute; 0 for no limit
   * @param options.onRefused called with the number of visits that got no row
   */
  constructor(options: { perMinute: number; onRefused: (visits: number) => void }) {
    this.#perMinute = options.perMinute
    this.#onRefused = options.onRefused
  }

  /** Returns the rows to write for these clicks. They count towards the limit after `noteWritten`. */
  plan(
    clicks: readonly Click[],
    ownerOf: (linkSeq: number) => Owner | undefined,
  ): readonly RawClickRow[] {
    const rows = joinCapped(clicks).map((click) => ({ click, owner: ownerOf(click.link_seq) }))
    if (this.#perMinute === 0) return rows
    const planned = new Map<string, number>()
    return rows.filter((row) => {
      const key = keyOf(row)
      const count = planned.get(key) ?? this.#written.get(key) ?? 0
      if (count >= this.#perMinute) return false
      planned.set(key, count + 1)
      return true
    })
  }

  /** Records that the rows planned for these clicks have been committed. */
  noteWritten(clicks: readonly Click[], rows: readonly RawClickRow[]): void {
    if (this.#perMinute === 0) return
    for (const row of rows) {
      const key = keyOf(row)
      this.#written.set(key, (this.#written.get(key) ?? 0) + 1)
    }
    for (const key of this.#written.keys()) {
      if (this.#written.size <= MINUTES_MAX) break
      this.#written.delete(key)
    }
    const refused = countVisits(clicks) - countVisits(rows.map(({ click }) => click))
    if (refused > 0) this.#onRefused(refused)
  }
}

/** Returns the rows to write for clicks of an import, which do not count towards the limit. */
export function rowsOfImport(
  clicks: readonly Click[],
  ownerOf: (linkSeq: number) => Owner | undefined,
): readonly RawClickRow[] {
  return clicks.flatMap((click) => {
    const owner = ownerOf(click.link_seq)
    return owner === undefined ? [] : { click, owner }
  })
}

function keyOf({ click, owner }: RawClickRow): string {
  return `${minuteOf(click.at)} ${owner?.workspace_id ?? ''}`
}

/** Merges the capped clicks of each link and minute into one, at the position of the first. */
function joinCapped(clicks: readonly Click[]): readonly Click[] {
  if (!clicks.some(isCapped)) return clicks
  const counts = new Map<string, number>()
  for (const click of clicks) {
    if (!isCapped(click)) continue
    const key = linkMinuteOf(click)
    counts.set(key, (counts.get(key) ?? 0) + click.count)
  }
  const joined: Click[] = []
  for (const click of clicks) {
    if (!isCapped(click)) {
      joined.push(click)
      continue
    }
    const key = linkMinuteOf(click)
    const count = counts.get(key)
    if (count !== undefined) joined.push({ ...click, count })
    counts.delete(key)
  }
  return joined
}

function isCapped({ flags }: Click): boolean {
  return flags === CLICK_FLAGS.capped
}

function linkMinuteOf({ link_seq, at }: Click): string {
  return `${link_seq} ${minuteOf(at)}`
}
