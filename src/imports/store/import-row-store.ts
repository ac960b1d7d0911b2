import type { Kysely } from 'kysely'
import { RowInserts } from '../../platform/database/row-buffer.ts'
import type { Schema } from '../../platform/database/schema.ts'
import type { WriteBuffer } from '../../platform/database/write-buffer.ts'
import type { ImportedLink, ReportRow } from '../import.ts'

/** What became of the rows of imports, and which links came from them. */
export type ImportRowStore = {
  append(rows: readonly ReportRow[]): Promise<void>
  /** Returns the rows of a report after the one with this number, in their order. */
  list(importId: string, beyond: number, limit: number): Promise<readonly ReportRow[]>
  /** Returns which of the targets an earlier row of the same dry run would take. */
  findTargets(importId: string, targets: readonly string[]): Promise<ReadonlySet<string>>
  /** Deletes some rows of an import; returns whether rows may be left. */
  delete(importId: string, limit: number): Promise<boolean>
  /** Returns the links of the workspace that came from these refs of a source. */
  findByRef(
    workspaceId: string,
    origin: string,
    refs: readonly string[],
  ): Promise<readonly ImportedLink[]>
  /** Returns from where those of the links came that were imported. */
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
