import { NO_RULE, type RuleValues, type VisitorFacts } from '../clicks/index.ts'
import type { RedirectDecision } from './decide.ts'
import { withToken } from './destination-query.ts'

/** Makes the token by which a conversion names the visit that brought it. */
export type MakeToken = (
  workspaceId: string,
  visit: RuleValues & {
    readonly linkSeq: number
    readonly atMs: number
    readonly country: string
    readonly label: string
  },
) => string

type TokenParts = {
  readonly makeToken: MakeToken
  readonly visitorFacts: Pick<VisitorFacts, 'place'>
}

/** Returns where a visitor is sent, with the token of the visit. */
export function locationWithToken(
  { makeToken, visitorFacts }: TokenParts,
  parameter: string,
  { link, location, outcome, label }: RedirectDecision,
  visitor: { readonly atMicros: number; readonly address: string },
): string {
  const { country } = visitorFacts.place(visitor.address)
  const { rule, variant } = outcome ?? NO_RULE
  const visit = { linkSeq: link.seq, atMs: visitor.atMicros / 1000, country, rule, variant, label }
  return withToken(location, parameter, makeToken(link.workspaceId, visit))
}
