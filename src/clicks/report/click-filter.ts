import { LINK_DIMENSIONS, type LinkDimension, type LinkValues } from '../../links/index.ts'
import type { Click, ClickDimension } from '../click.ts'
import type { Counts } from './day-of-clicks.ts'

/** Whether to leave out, include or select only the clicks of bots. */
export const BOTS = ['exclude', 'include', 'only'] as const

export type Bots = (typeof BOTS)[number]

/** The selected values by dimension, in lower case; '' selects unknown values. */
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
    filter.set(dimension, new Set(values.map((value) => value.toLowerCase())))
  }
  return filter
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
  return filter.get(dimension)?.has(value.toLowerCase()) ?? true
}

export function matchesFilter(filter: ClickFilter, click: Click): boolean {
  for (const [dimension, values] of filter) {
    if (!values.has(click[dimension].toLowerCase())) return false
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
