import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
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

/** What a query loads. While the API is unavailable, it stays what was loaded before, for another query too. */
export function useReport<T, K extends QueryKey>(options: UseQueryOptions<T, Error, T, K>) {
  const { data, error, isPlaceholderData } = useQuery(options)
  const [last, setLast] = useState(data)
  if (data !== undefined && data !== last) setLast(data)
  const isKept = data === undefined && error instanceof ApiError && error.isTemporary
  return {
    data: isKept ? last : data,
    error,
    isStale: isPlaceholderData || isKept,
  }
}
