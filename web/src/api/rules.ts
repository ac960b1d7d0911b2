import { queryOptions } from '@tanstack/react-query'
import type { LinkOptionsResource } from '@terse/contract/link-options'
import type { LinkRulesResource, Rule, RuleInput } from '@terse/contract/rules'
import { LINKS_KEY } from './links.ts'
import { ifMatch, request, requestVersioned, type Versioned, WHILE_EDITED } from './request.ts'

export function rulesQuery(linkId: string) {
  return queryOptions({
    queryKey: [...LINKS_KEY, 'rules', linkId],
    queryFn: ({ signal }) =>
      request<LinkRulesResource>('GET', `/links/${linkId}/rules`, { signal }),
    staleTime: 5_000,
  })
}

/** The rules of a link, and the id of the set that is tried after them. */
export type LinkRules = {
  readonly rules: readonly Rule[]
  readonly ruleSet: string | null
}

/** Rules that are about to be edited: as they are now, and unchanged until they are asked for again. */
export function editedRulesQuery(linkId: string) {
  return queryOptions({
    queryKey: ['edited-rules', linkId],
    async queryFn({ signal }): Promise<Versioned<LinkRules>> {
      const path = `/links/${linkId}`
      const { value, version } = await requestVersioned<LinkRulesResource>(`${path}/rules`, {
        signal,
      })
      // Read after the rules: where the link was changed between, a save finds that its version is another.
      const options = await request<LinkOptionsResource>('GET', `${path}/options`, { signal })
      return { value: { rules: value.rules, ruleSet: options.rule_set }, version }
    },
    ...WHILE_EDITED,
  })
}

/** Gives a link the rules of another one, under ids of its own. */
export function copyRules(rules: readonly Rule[], linkId: string): Promise<unknown> {
  const body = { rules: rules.map(({ id: _, ...rule }) => rule) }
  return request('PUT', `/links/${linkId}/rules`, { body })
}

type SaveOptions = {
  /** Fails with 412 where the link has another one by now. */
  readonly version: string | undefined
  /** Whether examples of the link may lead elsewhere. */
  readonly acceptsChanges: boolean
  /** Called with the version of the link after a part was saved, for what is sent next. */
  readonly onSaved: (version: string | undefined) => void
}

/** Saves the rules of a link, and which set it uses; what stays undefined is not sent. */
export async function saveLinkRules(
  linkId: string,
  { rules, ruleSet }: { rules?: readonly RuleInput[]; ruleSet?: string | null },
  { version, acceptsChanges, onSaved }: SaveOptions,
): Promise<void> {
  const query = acceptsChanges ? '?accept_changes=true' : ''
  let match = version
  const send = async (method: string, part: string, body: unknown) => {
    const path = `/links/${linkId}/${part}${query}`
    const saved = await requestVersioned(path, { method, body, headers: ifMatch(match) })
    if (match !== undefined) match = saved.version
    onSaved(match)
  }
  if (rules !== undefined) await send('PUT', 'rules', { rules })
  if (ruleSet !== undefined) await send('PATCH', 'options', { rule_set: ruleSet })
}
