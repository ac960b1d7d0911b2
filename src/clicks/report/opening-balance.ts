import type { Store } from '../../platform/database/store.ts'
import type { ClickReports } from '../store/click-reports.ts'
import { OPENING_DAY } from '../tally/click-day.ts'
import type { ClickScope } from './day-of-clicks.ts'

/** Returns how many clicks were imported without their dates. */
export async function readOpeningBalance(
  store: Store<{ readonly reports: Pick<ClickReports, 'readDays'> }>,
  scope: ClickScope,
): Promise<number> {
  const days = await store.read.reports.readDays(scope, OPENING_DAY, OPENING_DAY, { slots: false })
  return days[0]?.total.persons ?? 0
}
