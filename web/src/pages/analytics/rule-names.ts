import { useQuery } from '@tanstack/react-query'
import type { ClickScope, Grouping } from '../../api/click-reads.ts'
import { rulesQuery } from '../../api/rules.ts'
import { useText } from '../../text/use-text.ts'

/**
 * Returns how to name the rule of a group of clicks, where one link is shown: by its name, or its place. Undefined for
 * another grouping, and for a rule that the link does not have itself, which keeps its id.
 */
export function useRuleNames({
  links,
}: ClickScope): (grouping: Grouping, value: string | null) => string | undefined {
  const t = useText()
  const [link = ''] = links
  const { data } = useQuery({ ...rulesQuery(link), enabled: links.length === 1 })
  return (grouping, value) => {
    const rules = grouping === 'rule' && links.length === 1 ? (data?.rules ?? []) : []
    const nth = rules.findIndex(({ id }) => id === value)
    return nth === -1 ? undefined : (rules[nth]?.name ?? t.analytics.nthRule(nth + 1))
  }
}
