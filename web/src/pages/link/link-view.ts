import { type SearchValues, wordOf } from '../../search-text.ts'
import type { LinkDays } from '../../state/stored.ts'
import { browserTimeZone, dateIn } from '../../text/time-zone.ts'
import { type AnalyticsPageSearch, MEASURES, type Measure } from '../analytics/analytics-search.ts'
import { addDays, type View, viewOf } from '../analytics/view.ts'

/** What the figures of a link show, as it is in the address. */
type LinkSearch = { readonly measure?: Measure | undefined }

export function parseLinkSearch({ measure }: SearchValues): LinkSearch {
  return { measure: wordOf(MEASURES, measure) }
}

/** The last days with today. */
export function linkViewOf(
  linkId: string,
  { measure }: LinkSearch,
  days: LinkDays,
  now: Date,
): View {
  const to = addDays(dateIn(browserTimeZone(), now), 1)
  const search = { from: addDays(to, -Number(days)), to, measure }
  return viewOf({ links: [linkId], tags: [] }, search, now)
}

/** The same clicks on the page of analytics. */
export function analyticsOf({ scope, period, search }: View, days: LinkDays): AnalyticsPageSearch {
  const { measure } = search
  if (days === '14') return { link: scope.links, ...period, measure }
  return { link: scope.links, period: days === '90' ? '90d' : undefined, measure }
}
