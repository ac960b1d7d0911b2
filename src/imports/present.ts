import { type ImportResource, importSchema, type LinkOriginResource } from '@terse/contract/imports'
import { formatInstant } from '../platform/time/clock.ts'
import type { Import, ImportedLink } from './import.ts'
import type { FileColumns } from './import-files.ts'
import { SOURCE_ACCESS, type SourceKind } from './source-kinds.ts'

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
