import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { SparklinesResource } from '@terse/contract/sparklines'
import { browserTimeZone } from '../text/time-zone.ts'
import { requestPatiently } from './request-patiently.ts'

export type Sparkline = SparklinesResource['data'][number]

/** Clicks of the links of a page on each of the last 14 days, by the id of the link. */
export function sparklinesQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: ['clicks', 'sparklines', ids],
    queryFn: async ({ signal }) => {
      const query = { link: ids, timezone: browserTimeZone() }
      const { data } = await requestPatiently<SparklinesResource>('/clicks/sparklines', {
        query,
        signal,
      })
      return new Map(data.map((one) => [one.link_id, one]))
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  })
}
