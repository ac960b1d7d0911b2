import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'

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
