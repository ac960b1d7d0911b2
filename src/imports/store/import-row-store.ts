import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import { RowInserts, type WriteBuffer } from '../../platform/database/write-buffer.ts'
import type { DryRunClicks, ImportedLink, ReportRow } from '../import.ts'

/** What became of the rows of imports, and which links came from them. */
export type ImportRowStore = {
  append(rows: readonly ReportRow[]): Promise<void>
  /** Returns the rows of a report after the one with this number, in their order. */
  list(importId: string, beyond: number, limit: number): Promise<readonly ReportRow[]>
  /** Returns which of the targets an earlier row of the same dry run would take. */
  findTargets(importId: string, targets: readonly string[]): Promise<ReadonlySet<string>>
  /** Notes links that a dry run would take, or parts of what their totals have more than their clicks. */
  noteDryRun(clicks: readonly DryRunClicks[]): Promise<void>
  /** Returns which of the refs the dry run would take. */
  findDryRun(importId: string, refs: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns the sum of the opening balances of a dry run. */
  openingOfDryRun(importId: string): Promise<number>
  /** Deletes the notes of some links of a dry run; returns whether there were any. */
  deleteDryRun(importId: string, limit: number): Promise<boolean>
  /** Deletes some rows of an import; returns whether rows may be left. */
  delete(importId: string, limit: number): Promise<boolean>
  /** Returns the links of the workspace that came from these refs of a source. */
  findByRef(
    workspaceId: string,
    origin: string,
    refs: readonly string[],
  ): Promise<readonly ImportedLink[]>
  /** Returns the origins of the links that were imported. */
  findByLink(workspaceId: string, linkSeqs: readonly number[]): Promise<readonly ImportedLink[]>
  /**
   * Notes from where links came.
   *
   * @throws {UniqueViolation} when another transaction noted one of them since it was read
   */
  link(links: readonly ImportedLink[]): Promise<void>
}

const ROW_INSERTS = new RowInserts<ReportRow>('import_rows', [
  'import_id',
  'number',
  'place',
  'old_link',
  'outcome',
  'is_locked',
  'is_closed',
  'link_id',
  'link',
  'reason',
  'source_row',
  'target',
])

const DRY_RUN_INSERTS = new RowInserts<DryRunClicks>('dry_run_clicks', [
  'import_id',
  'ref',
  'clicks',
])

const LINK_INSERTS = new RowInserts<ImportedLink>('imported_links', [
  'workspace_id',
  'link_seq',
  'import_id',
  'origin',
  'keyspace_id',
  'ref',
  'rest',
])

export function importRowStore({
  db,
  writes,
}: {
  readonly db: Kysely<Schema>
  readonly writes: WriteBuffer
}): ImportRowStore {
  return {
    async append(rows) {
      for (const query of ROW_INSERTS.queries(db, rows)) await writes.add(query)
    },

    list: (importId, beyond, limit) =>
      db
        .selectFrom('import_rows')
        .selectAll()
        .where('import_id', '=', importId)
        .where('number', '>', beyond)
        .orderBy('number')
        .limit(limit)
        .execute(),

    async findTargets(importId, targets) {
      if (targets.length === 0) return new Set()
      const rows = await db
        .selectFrom('import_rows')
        .select('target')
        .where('import_id', '=', importId)
        .where('target', 'in', [...new Set(targets)])
        .execute()
      return new Set(rows.flatMap(({ target }) => target ?? []))
    },

    ...dryRunNotes(db, writes),

    async delete(importId, limit) {
      const first = db
        .selectFrom('import_rows')
        .select('number')
        .where('import_id', '=', importId)
        .orderBy('number')
        .limit(limit)
      const result = await db
        .deleteFrom('import_rows')
        .where('import_id', '=', importId)
        .where('number', 'in', first)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(limit)
    },

    async findByRef(workspaceId, origin, refs) {
      if (refs.length === 0) return []
      return db
        .selectFrom('imported_links')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('origin', '=', origin)
        .where('ref', 'in', [...new Set(refs)])
        .execute()
    },

    async findByLink(workspaceId, linkSeqs) {
      if (linkSeqs.length === 0) return []
      return db
        .selectFrom('imported_links')
        .selectAll()
        .where('workspace_id', '=', workspaceId)
        .where('link_seq', 'in', linkSeqs)
        .execute()
    },

    async link(links) {
      for (const query of LINK_INSERTS.queries(db, links)) await writes.add(query)
    },
  }
}

function dryRunNotes(
  db: Kysely<Schema>,
  writes: WriteBuffer,
): Pick<ImportRowStore, 'noteDryRun' | 'findDryRun' | 'openingOfDryRun' | 'deleteDryRun'> {
  return {
    async noteDryRun(clicks) {
      for (const query of DRY_RUN_INSERTS.queries(db, clicks)) await writes.add(query)
    },

    async findDryRun(importId, refs) {
      if (refs.length === 0) return new Set()
      const rows = await db
        .selectFrom('dry_run_clicks')
        .select('ref')
        .distinct()
        .where('import_id', '=', importId)
        .where('ref', 'in', [...new Set(refs)])
        .execute()
      return new Set(rows.map(({ ref }) => ref))
    },

    async openingOfDryRun(importId) {
      const balances = db
        .selectFrom('dry_run_clicks')
        .select((eb) => eb.fn.sum<number>('clicks').as('clicks'))
        .where('import_id', '=', importId)
        .groupBy('ref')
        .having((eb) => eb.fn.sum('clicks'), '>', 0)
      const row = await db
        .selectFrom(balances.as('balances'))
        .select((eb) => eb.fn.sum<number | string | null>('clicks').as('clicks'))
        .executeTakeFirst()
      return Number(row?.clicks ?? 0)
    },

    async deleteDryRun(importId, limit) {
      const first = db
        .selectFrom('dry_run_clicks')
        .select('ref')
        .distinct()
        .where('import_id', '=', importId)
        .orderBy('ref')
        .limit(limit)
      const result = await db
        .deleteFrom('dry_run_clicks')
        .where('import_id', '=', importId)
        .where('ref', 'in', first)
        .executeTakeFirst()
      return result.numDeletedRows > 0n
    },
  }
}
