import { z } from 'zod'

const ruleSchema = z.looseObject({
  longUrl: z.string(),
  priority: z.number().nullish(),
  conditions: z.array(z.looseObject({ type: z.string(), matchValue: z.unknown() })),
})

export const redirectRulesSchema = z.object({ redirectRules: z.array(ruleSchema) })

export type RedirectRule = z.infer<typeof ruleSchema>

/**
 * Splits the rules of a short URL into the destinations for iOS and Android, which are rules with that one condition, and
 * the others. Of two rules for one device, Shlink follows the first.
 */
export function devicesOf(rules: readonly RedirectRule[]): {
  readonly ios: string | null
  readonly android: string | null
  readonly others: readonly RedirectRule[]
} {
  const devices = { ios: null as string | null, android: null as string | null }
  const others: RedirectRule[] = []
  for (const rule of rules.toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0))) {
    const device = deviceOf(rule)
    if (device === undefined || devices[device] !== null) others.push(rule)
    else devices[device] = rule.longUrl
  }
  return { ...devices, others }
}

function deviceOf({ conditions }: RedirectRule): 'ios' | 'android' | undefined {
  const [condition, ...more] = conditions
  if (condition?.type !== 'device' || more.length > 0) return undefined
  const { matchValue } = condition
  return matchValue === 'ios' || matchValue === 'android' ? matchValue : undefined
}
