import { NOWHERE, type Place } from '../../src/clicks/index.ts'
import { RuleVisitor, type VisitSource } from '../../src/redirects/rule-visitor.ts'

export type MadeUpVisitor = Partial<Omit<VisitSource, 'address' | 'place' | 'visitor'>> & {
  readonly address?: string
  readonly country?: string
  readonly place?: Partial<Place>
  readonly visitor?: number
}

/** A visitor with the given facts, of whom else nothing is known. */
export function ruleVisitor(facts: MadeUpVisitor = {}): RuleVisitor {
  const { address = '', country = '', place, visitor = 1, ...source } = facts
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
    place: () => ({ ...NOWHERE, country, ...place }),
    visitor: () => visitor,
  })
}
