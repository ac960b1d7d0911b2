import type { FullStore } from '../../src/app/database/stores.ts'
import type { ClickScope, RawClick } from '../../src/clicks/report/day-of-clicks.ts'

const DAY_MICROS = 86_400_000_000
/** The range of instants that tests give their clicks: those of 1970, and those of these years. */
const DAYS = [
  [-5, 5],
  [19_000, 21_000],
] as const

/** All raw clicks of a scope that an export would contain. */
export async function rawClicksOf(store: FullStore, scope: ClickScope): Promise<RawClick[]> {
  const found: RawClick[] = []
  for (const [from, to] of DAYS) {
    const pages = store.read.reports.rawClicks(scope, from * DAY_MICROS, to * DAY_MICROS)
    for await (const page of pages) found.push(...page)
  }
  return found
}
