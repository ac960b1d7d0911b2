import type { Dimension, Grouping } from '../../api/click-reads.ts'
import { type ClickGroup, GROUPS_MAX, groupsQuery } from '../../api/clicks.ts'
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
