import { queryOptions } from '@tanstack/react-query'
import type { DomainResource } from '@terse/contract/domains'
import { request } from './request.ts'

const PER_PAGE = 100

type DomainPage = { readonly data: readonly DomainResource[] }

/** The hosts that links of this workspace can have, for choices. */
export const domainsQuery = queryOptions({
  queryKey: ['domains'],
  queryFn: async ({ signal }) =>
    (await request<DomainPage>('GET', '/domains', { query: { per_page: PER_PAGE }, signal })).data,
  staleTime: 30_000,
})
