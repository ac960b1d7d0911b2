import { queryOptions } from '@tanstack/react-query'
import type { LabelsResource } from '@terse/contract/labels'
import { ifMatch, request, requestVersioned, WHILE_EDITED } from './request.ts'

export type { LabelsResource }

export const labelsQuery = queryOptions({
  queryKey: ['labels'],
  queryFn: ({ signal }) => request<LabelsResource>('GET', '/labels', { signal }),
  staleTime: 5_000,
})

/** As they are now, and unchanged until they are asked for again, while they are edited. */
export const editedLabelsQuery = queryOptions({
  queryKey: ['edited-labels'],
  queryFn: ({ signal }) => requestVersioned<LabelsResource>('/labels', { signal }),
  ...WHILE_EDITED,
})

/** @param version fails with 412 where the settings have another one by now */
export function saveLabels(
  settings: LabelsResource,
  version: string | undefined,
): Promise<LabelsResource> {
  return request('PUT', '/labels', { body: settings, headers: ifMatch(version) })
}
