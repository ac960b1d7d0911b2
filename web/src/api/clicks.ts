import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ClickReportResource, ClicksQuery } from '@terse/contract/clicks'
import { request } from './request.ts'

/** What clicks are counted by; each is a filter too. */
export const DIMENSIONS = [
  'country',
  'language',
  'referrer',
  'device',
  'os',
  'browser',
  'source',
] as const satisfies readonly NonNullable<ClicksQuery['group_by']>[]
export type Dimension = (typeof DIMENSIONS)[number]

/** Clicks with any of the values; '' stands for clicks whose value is unknown. */
export type ValueFilter = { readonly [Name in Dimension]?: readonly string[] | undefined }

/** Dates in the time zone, or instants; the end is excluded. */
export type Period = { readonly from: string; readonly to: string }

/** All links, those of one domain, or one link; by their ids. */
export type ClickScope = {
  readonly domain?: string | undefined
  readonly link?: string | undefined
}

export type ReportQuery = ValueFilter & Period & { readonly timezone: string }

export type ClickSeries = Extract<ClickReportResource, { group_by: null }>
export type ClickGroups = Exclude<ClickReportResource, { group_by: null }>
export type ClickGroup = ClickGroups['data'][number]
export type ClickPoint = ClickSeries['data'][number]

/** What `limit` can be at most. */
export const GROUPS_MAX = 1_000

const REFRESH_MS = 60_000

/** People and bots by interval. */
export function seriesQuery(
  scope: ClickScope,
  query: ReportQuery & { readonly interval: NonNullable<ClicksQuery['interval']> },
) {
  return reportQuery<ClickSeries>(scope, { ...query, bots: 'include' })
}

/** The values of a dimension with the most clicks. */
export function groupsQuery(
  scope: ClickScope,
  query: ReportQuery & {
    readonly group_by: Dimension
    readonly limit: number
    readonly bots: 'exclude' | 'only'
  },
) {
  return reportQuery<ClickGroups>(scope, query)
}

function reportQuery<T extends ClickReportResource>(
  scope: ClickScope,
  query: ReportQuery & Pick<ClicksQuery, 'interval' | 'group_by' | 'limit' | 'bots'>,
) {
  const path = pathOf(scope)
  return queryOptions({
    queryKey: ['clicks', path, query],
    queryFn: ({ signal }) => request<T>('GET', path, { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  })
}

function pathOf({ domain, link }: ClickScope): string {
  if (link !== undefined) return `/links/${link}/clicks`
  return domain === undefined ? '/clicks' : `/domains/${domain}/clicks`
}
