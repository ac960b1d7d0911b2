/** The exports of redirects for other modules. */
export {
  type Decision,
  decide,
  decidePreview,
  limitedPreview,
  type RedirectDecision,
  statusOf,
  takeLabel,
  type Visit,
} from './decide.ts'
export { isContact, parseQuery, withParameters, withToken } from './destination-query.ts'
export type { FoundLink, VisitFinder } from './find-link.ts'
export { LoopDetector } from './loop-detector.ts'
export { looksLikeMachine } from './machine-visits.ts'
export { indexPaths, matchPath, type PathMatch, placeholdersIn } from './paths.ts'
export { loadByKey, loadRuleSet, type PreparedLink, prepare } from './prepared-link.ts'
export { factsOf, RuleVisitor, unknownVisitor } from './rule-visitor.ts'
export { type Outcome, type SharedRules, shareRules, type Trace } from './rules.ts'
