import type { Click, ClickDimension } from '../click.ts'

/** Which clicks of people and of others are asked for. */
export const BOTS = ['exclude', 'include', 'only'] as const

export type Bots = (typeof BOTS)[number]

/** The wanted values of some dimensions; '' is what is not known. Letter case does not matter. */
export type ClickFilter = ReadonlyMap<ClickDimension, ReadonlySet<string>>

/** @param wanted by dimension; one that is left out is not filtered */
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

export function isWantedValue(
  filter: ClickFilter,
  dimension: ClickDimension,
  value: string,
): boolean {
  return filter.get(dimension)?.has(value.toLowerCase()) ?? true
}

export function isWantedClick(filter: ClickFilter, click: Click): boolean {
  for (const [dimension, values] of filter) {
    if (!values.has(click[dimension].toLowerCase())) return false
  }
  return true
}

export function isWantedKind(bots: Bots, click: Click): boolean {
  return bots === 'include' || (click.flags === 0) === (bots === 'exclude')
}
