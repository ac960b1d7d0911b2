import { CLICK_FLAGS, type Click, countVisits } from '../click.ts'
import { minuteOf } from '../tally/click-day.ts'
import type { Owner } from './batch-growth.ts'

/** Minutes of workspaces that are remembered; more only forget how much has been spent. */
const MINUTES_MAX = 65_536

/** A click as it is kept for exports. */
export type RawClickRow = {
  readonly click: Click
  /** Undefined for a link that has been deleted. */
  readonly owner: Owner | undefined
}

/**
 * Decides which clicks of a batch get a row of their own for exports.
 *
 * Those beyond the cap share a row for each link and minute. Of all rows together, each workspace has
 * at most so many a minute: nothing else bounds the disk where clicks come from many addresses, or
 * from one on many links. What has no row is counted in the charts all the same.
 */
export class RawClickRows {
  readonly #perMinute: number
  readonly #onRefused: (visits: number) => void
  /** Rows written so far, by workspace and minute; the oldest entry first. */
  readonly #written = new Map<string, number>()

  /**
   * @param options.perMinute rows of one workspace; 0 for any number
   * @param options.onRefused told of the visits that got no row
   */
  constructor(options: { perMinute: number; onRefused: (visits: number) => void }) {
    this.#perMinute = options.perMinute
    this.#onRefused = options.onRefused
  }

  /** The rows to write for these clicks. Nothing is counted until `noteWritten`. */
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

  /** Says that the rows planned for these clicks have been committed. */
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

function keyOf({ click, owner }: RawClickRow): string {
  return `${minuteOf(click.at)} ${owner?.workspace_id ?? ''}`
}

/** Adds together the clicks beyond the cap of each link and minute, in the place of the first. */
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
