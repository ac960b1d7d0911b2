import { queryOptions } from '@tanstack/react-query'
import type {
  DiagnosisResource,
  FindingResource,
  InstanceResource,
  NodeResource,
} from '@terse/contract/instance'
import { request } from './request.ts'

export type { DiagnosisResource, FindingResource, InstanceResource, NodeResource }

const REFRESH_MS = 15_000

/** The state of the instance, read again while the page is shown. For operators. */
export const instanceQuery = queryOptions({
  queryKey: ['instance', 'state'],
  queryFn: ({ signal }) => request<InstanceResource>('GET', '/instance', { signal }),
  refetchInterval: REFRESH_MS,
})

/** What `terse doctor` reports. Takes some seconds. */
export const diagnosisQuery = queryOptions({
  queryKey: ['instance', 'diagnosis'],
  queryFn: ({ signal }) => request<DiagnosisResource>('GET', '/instance/diagnosis', { signal }),
  staleTime: 60_000,
})
