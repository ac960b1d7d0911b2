import type { Actor } from '../identity/index.ts'
import { type Import, type ImportOptions, NO_COUNTS } from './import.ts'
import type { SourceKind } from './source-kinds.ts'

/** What is asked of an import. */
export type NewImport = {
  readonly source: SourceKind
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
