import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  ConversionPageResource,
  ConversionReportResource,
  ConversionResource,
  ConversionSettingsResource,
  ConversionsQuery,
} from '@terse/contract/conversions'
import type { Query } from './reads.ts'
import {
  ifMatch,
  request,
  requestPatiently,
  requestRaw,
  requestVersioned,
  WHILE_EDITED,
} from './request.ts'

export type { ConversionReportResource, ConversionResource, ConversionSettingsResource }

export type ConversionSums = Pick<
  ConversionReportResource['total'],
  'conversions' | 'refunds' | 'values'
>
export type ConversionGroup = NonNullable<ConversionReportResource['groups']>[number]
export type ConversionGrouping = NonNullable<ConversionsQuery['group_by']>
export type ConversionInterval = NonNullable<ConversionsQuery['interval']>

const PATH = '/conversions'
const SETTINGS_PATH = `${PATH}/settings`
/** Every key of a query about conversions begins so. */
const KEY = ['conversions'] as const
const REFRESH_MS = 30_000
const PER_PAGE = 10

/** @param query with an interval or a dimension, else it answers with a list */
export function conversionReportQuery(
  query: Query & ({ readonly interval: ConversionInterval } | { readonly group_by: string }),
) {
  return queryOptions({
    queryKey: [...KEY, 'report', query],
    queryFn: ({ signal }) => requestPatiently<ConversionReportResource>(PATH, { query, signal }),
    placeholderData: keepPreviousData,
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  })
}

/** The newest first, a page at a time. */
export function conversionListQuery(filter: Query) {
  return infiniteQueryOptions({
    queryKey: [...KEY, 'list', filter],
    queryFn: ({ signal, pageParam: cursor }) =>
      requestPatiently<ConversionPageResource>(PATH, {
        query: { ...filter, per_page: PER_PAGE, cursor },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next_cursor,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  })
}

/** All rows of a list, as CSV. */
export async function exportConversions(filter: Query): Promise<Blob> {
  return (await requestRaw(`${PATH}/export`, { query: { ...filter, format: 'csv' } })).blob()
}

export const conversionSettingsQuery = queryOptions({
  queryKey: [...KEY, 'settings'],
  queryFn: ({ signal }) => request<ConversionSettingsResource>('GET', SETTINGS_PATH, { signal }),
  staleTime: 5_000,
})

/** As they are now, and unchanged until they are asked for again, while they are edited. */
export const editedConversionSettingsQuery = queryOptions({
  queryKey: [...KEY, 'edited-settings'],
  queryFn: ({ signal }) => requestVersioned<ConversionSettingsResource>(SETTINGS_PATH, { signal }),
  ...WHILE_EDITED,
})

/** @param version fails with 412 where the settings have another one by now */
export function saveConversionSettings(
  settings: Pick<ConversionSettingsResource, 'track_conversions'> &
    Partial<ConversionSettingsResource>,
  version?: string,
): Promise<ConversionSettingsResource> {
  return request('PUT', SETTINGS_PATH, { body: settings, headers: ifMatch(version) })
}
