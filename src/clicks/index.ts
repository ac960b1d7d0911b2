/** What other modules use of clicks. The redirects load it, so it loads no store and no route. */
export type { ClickRecorder } from './click.ts'
export { type Device, factsOfAgent } from './record/agent.ts'
export type { ClickMaker } from './record/click-maker.ts'
export type { RawVisit } from './record/raw-visit.ts'
