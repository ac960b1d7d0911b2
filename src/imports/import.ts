import { faultText } from '@terse/contract/faults'
import type { Actor } from '../identity/index.ts'
import type { Failure } from '../platform/failure.ts'
import { failureText } from '../platform/failure-text.ts'
import type { NewEvent } from '../storage/event-log.ts'
import type { ImportTables } from '../storage/import-tables.ts'
import type { SourceKind } from './source-kinds.ts'

/** The `source` of a revival, which reads what earlier imports kept beside their links. */
export const REVIVAL = 'revive' as const

/** What happens when a key is taken on the domain: see docs/moving/README.md. */
type OnConflict = 'skip' | 'update' | 'rename' | 'fail'

/** How an import maps what a source yields. */
export type ImportOptions = {
  /** From the source's domains to hosts of Terse; '' is the source's own or default domain. */
  readonly domains: Readonly<Record<string, string>>
  readonly onConflict: OnConflict
  /** IANA name: of dates without a zone. */
  readonly timeZone: string
  /** From a field of a link record to a column of a CSV file. */
  readonly columns: Readonly<Record<string, string>>
  /**
   * The host of links that name no domain, as it was when the import began; null where there was none to choose. Absent
   * before that, and in imports of version 0.1.0.
   */
  readonly fallbackHost?: string | null
  /** Columns of a CSV file that are no field; absent in imports of version 0.1.0. */
  readonly ignoredColumns?: readonly string[]
}

export type RowOutcome = ImportTables['import_rows']['outcome']

/** Rows by outcome, and what else is counted. */
export type ImportCounts = Readonly<Record<RowOutcome | ExtraCount, number>>

/**
 * `created` are links; what else is added has counts of its own. `locked` and `closed` count among the links.
 * `clicks_left_out` are of links that the import did not take, or of impossible instants. `clicks_opening` is the sum of
 * the opening balances, known at the end. `conversions_left_out` are of links that the import did not take, or there.
 */
type ExtraCount =
  | 'domains'
  | 'utm_templates'
  | 'rule_sets'
  | 'settings'
  | 'locked'
  | 'closed'
  | 'clicks'
  | 'clicks_left_out'
  | 'clicks_opening'
  | 'conversions'
  | 'conversions_left_out'

export const NO_COUNTS: ImportCounts = Object.freeze({
  created: 0,
  updated: 0,
  renamed: 0,
  skipped: 0,
  refused: 0,
  domains: 0,
  utm_templates: 0,
  rule_sets: 0,
  settings: 0,
  locked: 0,
  closed: 0,
  clicks: 0,
  clicks_left_out: 0,
  clicks_opening: 0,
  conversions: 0,
  conversions_left_out: 0,
})

type ImportRow = ImportTables['imports']

/** An import, under the names of its table. */
export type Import = Omit<ImportRow, 'options' | 'counts' | 'ahead'> & {
  readonly options: ImportOptions
  /** As in its table; empty for none. */
  readonly ahead: readonly string[]
  readonly counts: ImportCounts
}

/** What became of one row of a source, as stored for the report. */
export type ReportRow = ImportTables['import_rows']

/** What a dry run notes of a link that it would take. */
export type DryRunClicks = ImportTables['dry_run_clicks']

/** From where a link came. */
export type ImportedLink = ImportTables['imported_links']

/** Why an import ends before its source does, as a sentence for the person who imports. */
export class ImportFault extends Error {
  override readonly name = 'ImportFault'
}

/** Another process runs the import, or it was cancelled: this process must write nothing more of it. */
export class ImportTakenOver extends Error {
  override readonly name = 'ImportTakenOver'
}

/** What is asked of an import. */
export type NewImport = {
  readonly source: SourceKind | typeof REVIVAL
  readonly isDryRun: boolean
  readonly options: ImportOptions
}

/** Returns an import of the service that waits for its start, and is not stored yet. */
export function newImport(
  actor: Actor,
  { source, isDryRun, options }: NewImport,
  { id, now }: { readonly id: string; readonly now: number },
): Import {
  return {
    id,
    workspace_id: actor.workspaceId,
    source,
    runner: 'service',
    status: 'waiting',
    is_dry_run: Number(isDryRun),
    options,
    sealed_settings: null,
    fingerprint: null,
    file_id: null,
    file_bytes: null,
    file_columns: null,
    origin: null,
    links_expected: null,
    resume: null,
    ahead: [],
    rows_done: 0,
    counts: NO_COUNTS,
    fault: null,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    created_at: now,
    started_at: null,
    ended_at: null,
    next_at: null,
    fence: 0,
    lease_until: null,
    attempts: 0,
    leased_at: null,
  }
}

/** How long a lease lasts after each transaction. */
export const LEASE_MICROS = 15_000_000

type ImportEventType = Extract<NewEvent['type'], `import.${string}`>

export function importEvent(type: ImportEventType, of: Import): NewEvent {
  const { id, source, counts, fault, options } = of
  const after =
    type === 'import.started'
      ? { source, on_conflict: options.onConflict, domains: options.domains }
      : { source, ...counts, ...(fault !== null && { fault }) }
  return { type, subjectId: id, before: null, after }
}

/** What is wrong with each field, as sentences. */
export function reasonOf(failure: Failure): string {
  const sentences = Object.entries(failure.fields ?? {}).flatMap(([field, faults]) =>
    faults.map((fault) => `${field} ${faultText(fault)}.`),
  )
  return sentences.length === 0 ? failureText(failure) : sentences.join(' ')
}
