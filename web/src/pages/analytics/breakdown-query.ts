import { type ClickGroup, type Dimension, GROUPS_MAX, groupsQuery } from '../../api/clicks.ts'
import { queryOf, type View } from './view.ts'

/** The other values stay visible beside those that are set: a dimension is not filtered by itself. */
export function breakdownQuery(view: View, dimension: Dimension, limit: number) {
  const { [dimension]: _, ...others } = queryOf(view)
  const bots = view.measure === 'bots' ? 'only' : 'exclude'
  return groupsQuery(view.scope, {
    ...others,
    group_by: dimension,
    // The map needs all countries: the list beside it shares its request.
    limit: dimension === 'country' ? GROUPS_MAX : limit,
    bots,
  })
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
