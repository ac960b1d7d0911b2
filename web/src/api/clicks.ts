import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ClickReportResource } from '@terse/contract/clicks'
import type { SparklinesResource } from '@terse/contract/sparklines'
import { browserTimeZone } from '../text/time-zone.ts'
import {
  type ClickScope,
  type Grouping,
  type ReportQuery,
  reportRead,
  type SeriesParts,
  seriesRead,
} from './click-reads.ts'
import { BEHIND_REFRESH_MS } from './links.ts'
import { requestPatiently } from './request.ts'

export type ClickSeries = Extract<ClickReportResource, { group_by: null }>
export type ClickGroups = Exclude<ClickReportResource, { group_by: null }>
export type ClickGroup = ClickGroups['data'][number]
export type ClickPoint = ClickSeries['data'][number]

/** What `limit` can be at most. */
export const GROUPS_MAX = 1_000

const REFRESH_MS = 60_000

export function seriesQuery(scope: ClickScope, query: SeriesParts) {
  return reportQuery<ClickSeries>(seriesRead(scope, query))
}

/** The values of a dimension with the most clicks. */
export function groupsQuery(
  scope: ClickScope,
  query: ReportQuery & {
    readonly group_by: Grouping
    readonly limit: number
    readonly bots: 'exclude' | 'only'
  },
) {
  return reportQuery<ClickGroups>(reportRead(scope, query))
}

function reportQuery<T extends ClickReportResource>({
  path,
  query,
}: ReturnType<typeof reportRead>) {
  return queryOptions({
    queryKey: ['clicks', path, query],
    queryFn: ({ signal }) => requestPatiently<T>(path, { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: REFRESH_MS / 2,
    refetchInterval: ({ state }) => (state.data?.counted_until ? BEHIND_REFRESH_MS : REFRESH_MS),
  })
}

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
