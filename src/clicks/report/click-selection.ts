import type { ClickDimension } from '../click.ts'
import { type ClickFilter, matchesFilter } from './click-filter.ts'
import type { RawClick } from './day-of-clicks.ts'

/** Which raw clicks a report counts, and by what. */
export type ClickSelection = {
  /** Reads what the other methods need of these clicks. */
  prepare(clicks: readonly RawClick[]): Promise<void>
  matches(click: RawClick): boolean
  /** The values that a click is counted for. */
  valuesOf(click: RawClick): readonly string[]
}

/** Selects clicks by what they contain themselves. */
export function selectByDimensions(
  filter: ClickFilter,
  groupBy: ClickDimension | undefined,
): ClickSelection {
  return {
    prepare: async () => {},
    matches: (click) => matchesFilter(filter, click),
    valuesOf: (click) => (groupBy === undefined ? [] : [click[groupBy]]),
  }
}

export type LinkConditions = {
  /** The numbers of the links that are selected; all when undefined. */
  readonly linkSeqs: ReadonlySet<number> | undefined
  /** A link must carry one of these; any link when undefined. */
  readonly tags: ReadonlySet<string> | undefined
}

type TagsOfLinks = (linkSeqs: readonly number[]) => Promise<ReadonlyMap<number, readonly string[]>>

/** Links whose tags are cached during a report. */
const LINKS_MAX = 50_000

/** Selects clicks by their links too, or counts by them. */
export function selectByLinks(
  {
    filter,
    groupBy,
  }: { filter: ClickFilter; groupBy: ClickDimension | 'link' | 'tag' | undefined },
  { linkSeqs, tags }: LinkConditions,
  tagsOfLinks: TagsOfLinks,
): ClickSelection {
  const needsTags = tags !== undefined || groupBy === 'tag'
  const tagsOf = new Map<number, readonly string[]>()
  return {
    async prepare(clicks) {
      if (!needsTags) return
      const seqs = new Set(clicks.map(({ link_seq }) => link_seq))
      const missing = [...seqs].filter((linkSeq) => !tagsOf.has(linkSeq))
      if (missing.length === 0) return
      if (tagsOf.size > LINKS_MAX) {
        tagsOf.clear()
        missing.splice(0, missing.length, ...seqs)
      }
      const found = await tagsOfLinks(missing)
      for (const linkSeq of missing) tagsOf.set(linkSeq, found.get(linkSeq) ?? [])
    },
    matches(click) {
      if (linkSeqs?.has(click.link_seq) === false) return false
      if (tags !== undefined && !tagsOf.get(click.link_seq)?.some((tag) => tags.has(tag))) {
        return false
      }
      return matchesFilter(filter, click)
    },
    valuesOf(click) {
      if (groupBy === 'link') return [click.link_id ?? '']
      if (groupBy !== 'tag') return groupBy === undefined ? [] : [click[groupBy]]
      const carried = tagsOf.get(click.link_seq) ?? []
      return carried.length === 0 ? [''] : carried
    },
  }
}
