/** The exports of the click tables for other modules. Loads Kysely, which `../index.ts` does not. */

export { CLICK_FLAGS } from '../click.ts'
export {
  damagedJournalsFolder,
  isJournalId,
  journalsRoot,
  listJournals,
  listSegments,
  segmentFile,
  writeFence,
} from '../journal/journal-folder.ts'
export { countClicksAfter, endOfClicks, totalBacklogBytes } from '../journal/journal-reader.ts'
export type { Places } from '../record/places.ts'
export {
  bucketOf,
  NO_INSTANT,
  OPENING_BUCKET,
  PEOPLE_TOTAL,
  SpoolEncoder,
  TOTALS_BUCKET,
} from '../spool/spool-codec.ts'
export { openingBalances, spoolReader } from '../spool/spool-reader.ts'
export { clickOfVisit } from '../spool/visit-click.ts'
export type { ClickSpool, ClickSpoolStore } from './click-spool-store.ts'
export { clickSpoolStore } from './click-spool-store.ts'
export type { JournalPosition } from './click-store.ts'
export { checkClickSums, checkDaySums, checkLinkSums } from './sqlite/check-sums.ts'
export { listRawDays, rawClicksFile, rawClicksFolder } from './sqlite/raw-click-files.ts'
