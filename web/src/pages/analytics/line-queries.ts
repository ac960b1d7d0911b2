import type { Period } from '../../api/click-reads.ts'
import { seriesQuery } from '../../api/clicks.ts'
import { lineOf, queryOf, type View } from './view.ts'

export function lineQuery(view: View, period: Period = view.period) {
  return seriesQuery(...lineOf(view, period))
}

/** Visitors by day. Where a part of a day of UTC is asked for, they are not known. */
export function visitorsQuery(view: View, period: Period = view.period) {
  const query = { ...queryOf(view, period), timezone: 'UTC' }
  return seriesQuery(view.scope, { ...query, interval: 'day' })
}
