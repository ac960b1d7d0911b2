import { csvLine } from '@terse/contract/csv'
import type { Store } from '../platform/database/store.ts'
import { yieldToEventLoop } from '../platform/work/yield-to-event-loop.ts'
import type { ReportRow } from './import.ts'
import type { ImportStores } from './import-stores.ts'

const PAGE_ROWS = 500

const COLUMNS = [
  'number',
  'place',
  'old_link',
  'outcome',
  'locked',
  'closed',
  'link',
  'link_id',
  'reason',
  'source_row',
] as const

/** The report of an import as CSV, some rows at a time. */
export async function* reportCsv(
  store: Pick<Store<ImportStores>, 'read'>,
  importId: string,
): AsyncGenerator<string, void, void> {
  yield csvLine(COLUMNS)
  let beyond = 0
  for (;;) {
    const rows = await store.read.importRows.list(importId, beyond, PAGE_ROWS)
    if (rows.length > 0) yield rows.map(lineOf).join('')
    if (rows.length < PAGE_ROWS) return
    beyond = rows.at(-1)?.number ?? beyond
    await yieldToEventLoop()
  }
}

function lineOf(row: ReportRow): string {
  return csvLine([
    String(row.number),
    row.place,
    row.old_link,
    row.outcome,
    row.is_locked === 1 ? 'yes' : '',
    row.is_closed === 1 ? 'yes' : '',
    row.link ?? '',
    row.link_id ?? '',
    row.reason,
    row.source_row ?? '',
  ])
}
