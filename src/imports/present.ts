import { csvLine } from '@terse/contract/csv'
import { type ImportResource, importSchema, type LinkOriginResource } from '@terse/contract/imports'
import { formatInstant } from '../platform/time/clock.ts'
import { yieldToEventLoop } from '../platform/work/async.ts'
import type { Store } from '../storage/store.ts'
import type { Import, ImportedLink, ReportRow } from './import.ts'
import type { FileColumns } from './import-files.ts'
import { SOURCE_ACCESS, type SourceKind } from './source-kinds.ts'
import type { ImportStores } from './store/import-store.ts'

export function presentImport(of: Import): ImportResource {
  const { options, counts } = of
  const columns = columnsOf(of)
  return {
    id: of.id,
    source: of.source,
    status: of.status,
    dry_run: of.is_dry_run === 1,
    domains: options.domains,
    on_conflict: options.onConflict,
    timezone: options.timeZone,
    time_zone: options.timeZone,
    columns: options.columns,
    ignored_columns: [...(options.ignoredColumns ?? [])],
    needs_file: SOURCE_ACCESS[of.source as SourceKind] === 'file',
    file_bytes: of.file_bytes,
    file_columns: columns && [...columns.names],
    file_fields: columns?.fields ?? null,
    links_expected: of.links_expected,
    rows_done: of.rows_done,
    counts: importSchema.shape.counts.parse(counts),
    fault: of.fault,
    created_at: formatInstant(of.created_at),
    started_at: instant(of.started_at),
    ended_at: instant(of.ended_at),
  }
}

function columnsOf({ file_columns: text }: Import): FileColumns | null {
  return text === null ? null : JSON.parse(text)
}

/** @param from undefined for a link that was not imported */
export function presentOrigin(from: ImportedLink | undefined): LinkOriginResource {
  const { import_id = null, origin = null, ref = null, rest = null } = from ?? {}
  return { import_id, origin, ref, rest: rest && JSON.parse(rest) }
}

function instant(micros: number | null): string | null {
  return micros === null ? null : formatInstant(micros)
}

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
