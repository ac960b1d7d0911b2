/** The exports of redirects for other modules. */
export { decide } from './decide.ts'
export { loadByKey, loadRuleSet } from './prepared-link.ts'
export { unknownVisitor } from './rule-visitor.ts'
