import {
  LINK_DIMENSIONS,
  type LinkDimension,
  type LinkValues,
  NO_LINK_VALUES,
} from '../../links/index.ts'
import type { ClickDimension } from '../click.ts'
import {
  type ClickFilter,
  type LinkFilter,
  linkMatchesFilter,
  matchesFilter,
  valuesOfLink,
} from './click-filter.ts'
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

/** What clicks can be counted by. */
export type GroupBy = ClickDimension | LinkDimension | 'link'

export function isLinkDimension(groupBy: GroupBy | undefined): groupBy is LinkDimension {
  return LINK_DIMENSIONS.some((dimension) => dimension === groupBy)
}

export type LinkConditions = {
  /** The numbers of the links that are selected; all when undefined. */
  readonly linkSeqs: ReadonlySet<number> | undefined
  readonly links: LinkFilter
}

type ReadLinkValues = (linkSeqs: readonly number[]) => Promise<ReadonlyMap<number, LinkValues>>

/** Links whose values are cached during a report. */
const LINKS_MAX = 50_000

/** Selects clicks by their links too, or counts by them. */
export function selectByLinks(
  { filter, groupBy }: { filter: ClickFilter; groupBy: GroupBy | undefined },
  { linkSeqs, links }: LinkConditions,
  readLinkValues: ReadLinkValues,
): ClickSelection {
  const needsValues = links.size > 0 || isLinkDimension(groupBy)
  const cached = new Map<number, LinkValues>()
  const ofLink = (linkSeq: number) => cached.get(linkSeq) ?? NO_LINK_VALUES
  return {
    async prepare(clicks) {
      if (!needsValues) return
      const seqs = new Set(clicks.map(({ link_seq }) => link_seq))
      const missing = [...seqs].filter((linkSeq) => !cached.has(linkSeq))
      if (missing.length === 0) return
      if (cached.size > LINKS_MAX) {
        cached.clear()
        missing.splice(0, missing.length, ...seqs)
      }
      const found = await readLinkValues(missing)
      for (const linkSeq of missing) cached.set(linkSeq, found.get(linkSeq) ?? NO_LINK_VALUES)
    },
    matches(click) {
      if (linkSeqs?.has(click.link_seq) === false) return false
      return linkMatchesFilter(links, ofLink(click.link_seq)) && matchesFilter(filter, click)
    },
    valuesOf(click) {
      if (groupBy === undefined) return []
      if (groupBy === 'link') return [click.link_id ?? '']
      if (!isLinkDimension(groupBy)) return [click[groupBy]]
      return valuesOfLink(ofLink(click.link_seq), groupBy)
    },
  }
}
