import {
  LINK_DIMENSIONS,
  type LinkDimension,
  type LinkValues,
  NO_LINK_VALUES,
} from '../../links/index.ts'
import { type Click, type ClickDimension, SPARSE_DIMENSIONS } from '../click.ts'
import type { Counts, RawClick } from './day-of-clicks.ts'

/** Whether to leave out, include or select only the clicks of bots. */
export const BOTS = ['exclude', 'include', 'only'] as const

export type Bots = (typeof BOTS)[number]

/** The selected values by dimension, as `foldCase` returns them; '' selects unknown values. */
export type ClickFilter = ReadonlyMap<ClickDimension, ReadonlySet<string>>

/** @param wanted the selected values by dimension; other dimensions are not filtered */
export function clickFilter(
  wanted: Readonly<Partial<Record<ClickDimension, readonly string[] | undefined>>>,
  dimensions: readonly ClickDimension[],
): ClickFilter {
  const filter = new Map<ClickDimension, ReadonlySet<string>>()
  for (const dimension of dimensions) {
    const values = wanted[dimension]
    if (values === undefined) continue
    filter.set(dimension, new Set(values.map((value) => foldCase(dimension, value))))
  }
  return filter
}

/** Whether letter case is ignored: a link may have variants that differ only in it. */
export function ignoresCase(dimension: ClickDimension): boolean {
  return !SPARSE_DIMENSIONS.some((name) => name === dimension)
}

function foldCase(dimension: ClickDimension, value: string): string {
  return ignoresCase(dimension) ? value.toLowerCase() : value
}

/** The selected values of links by dimension, as they are written; '' selects links without one. */
export type LinkFilter = ReadonlyMap<LinkDimension, ReadonlySet<string>>

/** @param wanted as for `clickFilter` */
export function linkFilter(
  wanted: Readonly<Partial<Record<LinkDimension, readonly string[] | undefined>>>,
): LinkFilter {
  const filter = new Map<LinkDimension, ReadonlySet<string>>()
  for (const dimension of LINK_DIMENSIONS) {
    const values = wanted[dimension]
    if (values !== undefined) filter.set(dimension, new Set(values))
  }
  return filter
}

/** The values that a click on a link counts for. */
export function valuesOfLink(link: LinkValues, dimension: LinkDimension): readonly string[] {
  const values = link[dimension]
  return values.length === 0 ? [''] : values
}

export function linkMatchesFilter(filter: LinkFilter, link: LinkValues): boolean {
  for (const [dimension, wanted] of filter) {
    if (!valuesOfLink(link, dimension).some((value) => wanted.has(value))) return false
  }
  return true
}

export function valueMatchesFilter(
  filter: ClickFilter,
  dimension: ClickDimension,
  value: string,
): boolean {
  return filter.get(dimension)?.has(foldCase(dimension, value)) ?? true
}

export function matchesFilter(filter: ClickFilter, click: Click): boolean {
  for (const [dimension, values] of filter) {
    if (!values.has(foldCase(dimension, click[dimension]))) return false
  }
  return true
}

export function matchesBots(bots: Bots, click: Click): boolean {
  return bots === 'include' || (click.flags === 0) === (bots === 'exclude')
}

/** Returns how many of the counted clicks are selected. */
export function weightOf({ persons, others }: Counts, bots: Bots): number {
  if (bots === 'include') return persons + others
  return bots === 'exclude' ? persons : others
}

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

type LinkConditions = {
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
