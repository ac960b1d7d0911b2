import { csvLine } from '@terse/contract/csv'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { Store } from '../storage/store.ts'
import type { ReportRow } from './import.ts'
import type { ImportStores } from './store/import-store.ts'

const PAGE_ROWS = 500

type ReportStore = Pick<Store<ImportStores>, 'read'>

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
  store: ReportStore,
  importId: string,
): AsyncGenerator<string, void, void> {
  yield csvLine(COLUMNS)
  for await (const rows of pagesOf(store, importId)) yield rows.map(lineOf).join('')
}

/** Returns the hosts on which an import has put links, in the order of its rows. */
export async function reportHosts(
  store: ReportStore,
  importId: string,
): Promise<readonly string[]> {
  const hosts = new Set<string>()
  for await (const rows of pagesOf(store, importId)) {
    for (const { link } of rows) if (link !== null) hosts.add(new URL(link).host)
  }
  return [...hosts]
}

async function* pagesOf(
  store: ReportStore,
  importId: string,
): AsyncGenerator<readonly ReportRow[], void, void> {
  let beyond = 0
  for (;;) {
    const rows = await store.read.importRows.list(importId, beyond, PAGE_ROWS)
    if (rows.length > 0) yield rows
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
