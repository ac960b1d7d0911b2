/** The exports of imports for other modules. */
export { microsOf } from './sources/api/pages.ts'
export type { ImportRowStore } from './store/import-store.ts'
export { convertRules, type RedirectRule, redirectRuleOf } from './targeting/shlink-targeting.ts'
