/** The exports of the click tables for other modules. Loads Kysely, which `../index.ts` does not. */

export { CLICK_FLAGS } from '../click.ts'
export type { Countries } from '../record/countries.ts'
export {
  bucketOf,
  NO_INSTANT,
  OPENING_BUCKET,
  PEOPLE_TOTAL,
  SpoolEncoder,
  TOTALS_BUCKET,
} from '../spool/spool-codec.ts'
export { openingBalances } from '../spool/spool-reader.ts'
export { clickOfVisit } from '../spool/visit-click.ts'
export type { ClickSpool, ClickSpoolStore } from './click-spool-store.ts'
