import { queryOptions } from '@tanstack/react-query'
import type {
  DiagnosisResource,
  FindingResource,
  InstanceResource,
  NodeResource,
} from '@terse/contract/instance'
import type { AccountResource } from '@terse/contract/people'
import type { OneTimeLinkResource } from '@terse/contract/sign-in'
import { request, requestAll } from './request.ts'

export type { AccountResource, DiagnosisResource, FindingResource, InstanceResource, NodeResource }

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

/** Everyone with an account. For operators. */
export const peopleQuery = queryOptions({
  queryKey: ['people'],
  queryFn: ({ signal }) => requestAll<AccountResource>('/people', { signal }),
  staleTime: 5_000,
})

export function changePerson(
  id: string,
  change: { readonly is_disabled?: boolean; readonly is_operator?: boolean },
): Promise<AccountResource> {
  return request('PATCH', `/people/${id}`, { body: change })
}

export function makeResetLink(id: string): Promise<OneTimeLinkResource> {
  return request('POST', `/people/${id}/password-reset`)
}
