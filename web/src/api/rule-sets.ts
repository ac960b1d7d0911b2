import { queryOptions } from '@tanstack/react-query'
import type { IncludingRuleSet, RuleSetResource } from '@terse/contract/rule-sets'
import type { RuleInput } from '@terse/contract/rules'
import { ifMatch, request, requestAll, requestVersioned, WHILE_EDITED } from './request.ts'

/** A rule set with how many links and domains use it. */
export type RuleSet = IncludingRuleSet & {
  readonly used_by: Exclude<IncludingRuleSet['used_by'], undefined>
}

const query = { include: 'used_by' }

/** Every key of a query about rule sets begins so. */
export const RULE_SETS_KEY = ['rule-sets'] as const

/** All sets of the workspace, by name; a workspace has at most 200. */
export const ruleSetsQuery = queryOptions({
  queryKey: [...RULE_SETS_KEY, 'list'],
  queryFn: ({ signal }) => requestAll<RuleSet>('/rule-sets', { query, signal }),
  staleTime: 5_000,
})

/** A set that is about to be edited: as it is now, and unchanged until it is asked for again. */
export function editedRuleSetQuery(id: string) {
  return queryOptions({
    queryKey: ['edited-rule-set', id],
    queryFn: ({ signal }) => requestVersioned<RuleSet>(`/rule-sets/${id}`, { query, signal }),
    ...WHILE_EDITED,
  })
}

export function createRuleSet(name: string): Promise<RuleSetResource> {
  return request('POST', '/rule-sets', { body: { name } })
}

export function renameRuleSet(id: string, name: string): Promise<RuleSetResource> {
  return request('PATCH', `/rule-sets/${id}`, { body: { name } })
}

/** @param version fails with 412 where the set has another one by now */
export function replaceRulesOfSet(
  id: string,
  rules: readonly RuleInput[],
  version: string | undefined,
): Promise<RuleSetResource> {
  return request('PATCH', `/rule-sets/${id}`, { body: { rules }, headers: ifMatch(version) })
}

export function deleteRuleSet(id: string): Promise<unknown> {
  return request('DELETE', `/rule-sets/${id}`)
}
