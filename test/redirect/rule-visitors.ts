import { RuleVisitor, type VisitSource } from '../../src/redirects/rule-visitor.ts'

export type MadeUpVisitor = Partial<Omit<VisitSource, 'address' | 'country' | 'visitor'>> & {
  readonly address?: string
  readonly country?: string
  readonly visitor?: number
}

/** A visitor with the given facts, of whom else nothing is known. */
export function ruleVisitor(facts: MadeUpVisitor = {}): RuleVisitor {
  const { address = '', country = '', visitor = 1, ...source } = facts
  return new RuleVisitor({
    atMs: Date.UTC(2026, 5, 1),
    userAgent: undefined,
    acceptLanguage: undefined,
    referer: undefined,
    query: '',
    label: '',
    keptVariant: () => undefined,
    ...source,
    address: () => address,
    country: () => country,
    visitor: () => visitor,
  })
}
