import { queryOptions } from '@tanstack/react-query'
import type { LinkRulesResource, RuleInput } from '@terse/contract/rules'
import { LINKS_KEY } from './links.ts'
import { request, requestVersioned } from './request.ts'

export function rulesQuery(linkId: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'rules', linkId],
    queryFn: ({ signal }) =>
      request<LinkRulesResource>('GET', `/links/${linkId}/rules`, { signal }),
    staleTime: 5_000,
  })
}

/** Rules that are about to be edited: as they are now, and unchanged until they are asked for again. */
export function editedRulesQuery(linkId: string) {
  return queryOptions({
    queryKey: ['edited-rules', linkId],
    queryFn: ({ signal }) =>
      requestVersioned<LinkRulesResource>(`/links/${linkId}/rules`, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
  })
}

/**
 * @param version fails with 412 where the link has another one by now
 * @param acceptsChanges whether examples of the link may lead elsewhere
 */
export function replaceRules(
  linkId: string,
  rules: readonly RuleInput[],
  version: string | undefined,
  acceptsChanges = false,
): Promise<LinkRulesResource> {
  const headers = version === undefined ? {} : { 'If-Match': version }
  const query = acceptsChanges ? '?accept_changes=true' : ''
  return request('PUT', `/links/${linkId}/rules${query}`, { body: { rules }, headers })
}
