import { queryOptions } from '@tanstack/react-query'
import type { CompatResource } from '@terse/contract/compat'
import type { CompatService } from '@terse/contract/compat-services'
import { request } from './request.ts'

export type { CompatResource, CompatService }

export const compatQuery = queryOptions({
  queryKey: ['compat'],
  queryFn: ({ signal }) =>
    request<{ readonly data: readonly CompatResource[] }>('GET', '/compat', { signal }),
  select: ({ data }) => data,
  staleTime: 5_000,
})

export function enableService(service: CompatService, enabled: boolean): Promise<CompatResource> {
  return request('PUT', `/compat/${service}`, { body: { enabled } })
}
