import { useQueries } from '@tanstack/react-query'
import type { Dimension, Grouping } from '../../api/click-reads.ts'
import { type ClickGroup, GROUPS_MAX, groupsQuery } from '../../api/clicks.ts'
import { linkQuery } from '../../api/links.ts'
import type { ChartFormats } from '../../text/chart-formats.ts'
import type { Catalogue } from '../../text/en.ts'
import { queryOf, type View } from './view.ts'

/** The other values stay visible beside those that are set: a list is not filtered by itself. */
export function breakdownQuery(view: View, grouping: Grouping, limit: number) {
  const { scope, measure } = view
  const { [grouping as Dimension]: _, ...others } = queryOf(view)
  return groupsQuery(
    {
      domain: scope.domain,
      links: grouping === 'link' ? [] : scope.links,
      tags: grouping === 'tag' ? [] : scope.tags,
    },
    {
      ...others,
      group_by: grouping,
      // The map needs all countries: the list beside it shares its request.
      limit: grouping === 'country' ? GROUPS_MAX : limit,
      bots: measure === 'bots' ? 'only' : 'exclude',
    },
  )
}

/** The values that are set, also those of which a list shows others first. */
export function setValuesQuery(view: View, grouping: Grouping) {
  return groupsQuery(view.scope, {
    ...queryOf(view),
    group_by: grouping,
    // A report of links with one tag counts their other tags too, so ask for more groups.
    limit: GROUPS_MAX,
    bots: view.measure === 'bots' ? 'only' : 'exclude',
  })
}

/** The values that are set and not among the first rows of a list. */
export function missingValues(
  groups: readonly ClickGroup[],
  wanted: readonly string[],
  rows: number,
): readonly string[] {
  const shown = groups.slice(0, rows).map(({ value }) => value ?? '')
  return wanted.filter((value) => !shown.includes(value))
}

/** The first rows of a list, where those that are set and missing take the place of the last that are not set. */
export function rowsWithSet(
  groups: readonly ClickGroup[],
  missing: readonly ClickGroup[],
  wanted: readonly string[],
  rows: number,
): readonly ClickGroup[] {
  const first = groups.slice(0, rows)
  const others = first.filter(({ value }) => !wanted.includes(value ?? ''))
  const room = rows - (first.length - others.length) - missing.length
  const left = new Set(others.slice(Math.max(0, room)))
  return [...first.filter((group) => !left.has(group)), ...missing]
}

/** Clicks, or bots where only these were asked for. */
export function countOf(group: Pick<ClickGroup, 'clicks' | 'bots'> | undefined): number {
  return group?.clicks ?? group?.bots ?? 0
}

export function totalOf(
  total: { readonly clicks: number; readonly bots: number },
  { measure }: Pick<View, 'measure'>,
): number {
  return measure === 'bots' ? total.bots : total.clicks
}

/** The name of a value of a dimension; '' and null stand for the unknown. */
export function valueName(
  dimension: Dimension,
  value: string | null,
  formats: ChartFormats,
  t: Catalogue,
): string {
  if (value === null || value === '') {
    if (dimension === 'referrer') return t.analytics.unknownReferrer
    if (dimension === 'rule') return t.analytics.noRule
    if (dimension === 'variant') return t.analytics.noVariant
    if (dimension === 'label') return t.analytics.noLabel
    return dimension.startsWith('utm_') ? t.common.none : t.analytics.unknown
  }
  if (dimension === 'country') return formats.country(value)
  if (dimension === 'language') return formats.language(value)
  const names: Readonly<Record<string, string>> =
    dimension === 'device' ? t.analytics.devices : dimension === 'source' ? t.analytics.sources : {}
  return names[value] ?? value
}

/** The name of a group: the short form of a link, a tag, or a value. */
export function groupName(
  grouping: Grouping,
  { value, link }: ClickGroup,
  formats: ChartFormats,
  t: Catalogue,
): string {
  if (grouping === 'link') return link ? `${link.domain}/${link.key}` : t.analytics.deletedLink
  if (grouping === 'tag') return value || t.analytics.untagged
  return valueName(grouping, value, formats, t)
}

/** The short forms of links; the id of one that does not exist. */
export function useLinkNames(links: readonly string[]): readonly string[] {
  const answers = useQueries({ queries: links.map((id) => linkQuery(id)) })
  return answers.map(({ data, error }, nth) => {
    if (data !== undefined) return `${data.domain}/${data.key}`
    return error === null ? '' : (links[nth] ?? '')
  })
}
