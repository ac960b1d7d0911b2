import type { TryExamples } from '../links/index.ts'
import { prepare, shareRules } from '../redirects/index.ts'
import { explainDecision, newHost } from './explanation.ts'
import { type MadeUpFacts, madeUpVisitor } from './visitor.ts'

/**
 * Returns how to try the examples of a link. A split gives an example the same variant each day, so that its result
 * changes with the link only; for the same reason its limit counts as not used up.
 */
export function exampleTrial({
  place,
  scannerNetworks,
}: Omit<MadeUpFacts, 'visitor'>): TryExamples {
  const facts = { place, scannerNetworks, visitor: () => 0, isSameAlways: true }
  return (link, { sets, labelParameter, nowMicros }) => {
    const visited = { ...link, keyspace_id: 0, updated_at: 0 }
    const subject = {
      host: newHost(visited.keyspace_id),
      link: visited,
      prepared: prepare(visited),
      sets: sets.map(shareRules),
      labelParameter,
      tokenParameter: null,
      isUsedUp: false,
    }
    return (visitor) => {
      const made = madeUpVisitor(visitor, nowMicros, facts, labelParameter)
      const { decision } = explainDecision(subject, made)
      const { rule = null, variant = null } =
        decision.kind === 'redirect' ? (decision.outcome ?? {}) : {}
      return {
        kind: decision.kind,
        location: 'location' in decision ? decision.location : null,
        rule,
        variant: variant === '' ? null : variant,
      }
    }
  }
}
