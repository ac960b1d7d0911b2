import { queryOptions } from '@tanstack/react-query'
import type { AccountResource } from '@terse/contract/people'
import type { OneTimeLinkResource } from '@terse/contract/sign-in'
import { request } from './request.ts'
import { requestAll } from './request-all.ts'

export type { AccountResource }

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
