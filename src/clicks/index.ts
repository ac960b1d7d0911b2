/** The exports of clicks for other modules. The redirects load it, so it loads no store and no route. */
export {
  CLICK_FLAGS,
  type ClickRecorder,
  NO_RULE,
  NOWHERE,
  type Place,
  type RuleValues,
} from './click.ts'
export { flagNames, flagsOf, presentLive, presentWithoutId } from './click-export.ts'
export type { ClickLimits, LimitedLink, TakeOutcome } from './limits/click-limits.ts'
export type { ClickMaker, VisitorFacts } from './record/click-maker.ts'
export {
  type Device,
  flagsOfVisit,
  isPrefetch,
  parseUserAgent,
  type RawVisit,
  referrerHost,
  type UserAgentInfo,
} from './record/raw-visit.ts'
export type { DayOfClicks, RawClick } from './report/day-of-clicks.ts'
export {
  cutsOf,
  formatQuarters,
  type Interval,
  type PeriodInput,
  parsePeriod,
  QUARTER_MICROS,
  quartersOf,
  refuseTooManyPoints,
} from './report/period.ts'
export type { ClickFeed, FedClick } from './store/click-feed.ts'
export type { ClickReports } from './store/click-reports.ts'
export { dayOf, formatDay, parseDay, startOfDay } from './tally/click-day.ts'
