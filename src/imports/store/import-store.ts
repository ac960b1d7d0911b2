import { type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import type { ClickSpoolStore } from '../../clicks/store/index.ts'
import type { ConversionStore } from '../../conversions/index.ts'
import type { MakerStores } from '../../identity/index.ts'
import type { LinkBatchStores } from '../../links/index.ts'
import type { Schema } from '../../storage/schema.ts'
import { RowInserts, type WriteBuffer } from '../../storage/write-buffer.ts'
import {
  type DryRunClicks,
  type Import,
  type ImportedLink,
  NO_COUNTS,
  type ReportRow,
} from '../import.ts'
import { type KeptValueStore, keptValues } from './kept-values.ts'

/** A position in the list of a workspace's imports. */
export type ImportMark = Pick<Import, 'created_at' | 'id'>

/** Consecutive imports of a workspace. */
export type ImportRun = {
  readonly limit: number
  readonly offset?: number
  /** The run starts after this position; at the start of the list when undefined. */
  readonly beyond?: ImportMark | undefined
  /** Oldest first. */
  readonly isReversed?: boolean
}

type ImportChanges = Partial<Omit<Import, 'id' | 'workspace_id' | 'created_at'>>

/** The imports themselves; their rows are in `ImportRowStore`. */
export type ImportStore = {
  insert(added: Import): Promise<void>
  find(workspaceId: string, id: string): Promise<Import | undefined>
  /** Returns the newest import of this command that was neither cancelled nor shown to the end. */
  findUnshown(workspaceId: string, fingerprint: string): Promise<Import | undefined>
  /** Newest first. */
  list(workspaceId: string, run: ImportRun): Promise<readonly Import[]>
  count(workspaceId: string): Promise<number>
  /**
   * Returns imports that are due and not leased, of workspaces none of whose imports a node runs: those that are the
   * longest due of their workspace first, so that the imports of one workspace hold up no other's.
   */
  findDue(nowMicros: number, limit: number): Promise<readonly Import[]>
  /** Whether a node runs an import of the workspace. */
  isRunning(workspaceId: string, nowMicros: number): Promise<boolean>
  /** Returns how many of the workspace's imports have not ended, and how many of these have a file. */
  countUnended(workspaceId: string): Promise<{ readonly imports: number; readonly files: number }>
  /** Returns imports that ended before an instant, oldest first. */
  findEndedBefore(micros: number, limit: number): Promise<readonly Import[]>
  /** Returns failed imports that ended before an instant and still have sealed settings. */
  findSecretsBefore(micros: number, limit: number): Promise<readonly Import[]>
  /** Returns which of the files belong to imports that may need them. */
  findFilesAmong(fileIds: readonly string[]): Promise<readonly string[]>
  /** Writes changes. False when the fence has changed: another process leased or cancelled it. */
  update(id: string, fence: number, changes: ImportChanges): Promise<boolean>
  /**
   * Ends a lease, so that the import is leased again at `next_at`. Does nothing to one that has ended, or when the
   * fence has changed.
   */
  requeue(
    id: string,
    fence: number,
    changes: { readonly next_at: number; readonly attempts: number },
  ): Promise<void>
  /** Deletes an import, whose rows must have been deleted. */
  delete(id: string): Promise<void>
}

const ENDED = ['succeeded', 'failed', 'cancelled'] as const

export function importStore(db: Kysely<Schema>): ImportStore {
  return { ...importReads(db), ...dueImports(db), ...importWrites(db) }
}

function importReads(
  db: Kysely<Schema>,
): Pick<ImportStore, 'find' | 'findUnshown' | 'list' | 'count' | 'countUnended'> {
  const imports = () => db.selectFrom('imports').selectAll()

  return {
    async find(workspaceId, id) {
      const row = await imports()
        .where('id', '=', id)
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      return row && importOf(row)
    },

    async findUnshown(workspaceId, fingerprint) {
      const row = await imports()
        .where('workspace_id', '=', workspaceId)
        .where('fingerprint', '=', fingerprint)
        .where('status', '!=', 'cancelled')
        .orderBy('created_at', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row && importOf(row)
    },

    async list(workspaceId, { limit, offset = 0, beyond, isReversed = false }) {
      const direction = isReversed ? 'asc' : 'desc'
      const rows = await imports()
        .where('workspace_id', '=', workspaceId)
        .$if(beyond !== undefined, (qb) =>
          qb.where((eb) =>
            eb(
              eb.refTuple('created_at', 'id'),
              isReversed ? '>' : '<',
              eb.tuple(beyond?.created_at ?? 0, beyond?.id ?? ''),
            ),
          ),
        )
        .orderBy('created_at', direction)
        .orderBy('id', direction)
        .limit(limit)
        .offset(offset)
        .execute()
      return rows.map(importOf)
    },

    async count(workspaceId) {
      const row = await db
        .selectFrom('imports')
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return row.total
    },

    async countUnended(workspaceId) {
      const row = await db
        .selectFrom('imports')
        .select((eb) => [
          eb.fn.countAll<number>().as('imports'),
          eb.fn.count<number>('file_id').as('files'),
        ])
        .where('workspace_id', '=', workspaceId)
        .where('status', 'not in', ENDED)
        .executeTakeFirstOrThrow()
      return row
    },
  }
}

function dueImports(
  db: Kysely<Schema>,
): Pick<
  ImportStore,
  'findDue' | 'isRunning' | 'findEndedBefore' | 'findSecretsBefore' | 'findFilesAmong'
> {
  const imports = () => db.selectFrom('imports').selectAll()
  const running = (nowMicros: number) =>
    db
      .selectFrom('imports')
      .select('workspace_id')
      .where('runner', '=', 'service')
      .where('next_at', 'is not', null)
      .where('lease_until', '>', nowMicros)

  return {
    async findDue(nowMicros, limit) {
      const rows = await db
        .selectFrom((eb) =>
          eb
            .selectFrom('imports')
            .selectAll()
            .select(
              sql<number>`row_number() over (partition by workspace_id order by next_at, id)`.as(
                'turn',
              ),
            )
            .where('next_at', '<=', nowMicros)
            .where('workspace_id', 'not in', running(nowMicros))
            .as('due'),
        )
        .selectAll()
        .orderBy('turn')
        .orderBy('next_at')
        .limit(limit)
        .execute()
      return rows.map(({ turn: _, ...row }) => importOf(row))
    },

    async isRunning(workspaceId, nowMicros) {
      const row = await running(nowMicros)
        .where('workspace_id', '=', workspaceId)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async findEndedBefore(micros, limit) {
      const rows = await imports()
        .where('ended_at', '<', micros)
        .orderBy('ended_at')
        .limit(limit)
        .execute()
      return rows.map(importOf)
    },

    async findSecretsBefore(micros, limit) {
      const rows = await imports()
        .where('ended_at', '<', micros)
        .where('sealed_settings', 'is not', null)
        .limit(limit)
        .execute()
      return rows.map(importOf)
    },

    async findFilesAmong(fileIds) {
      const rows = await db
        .selectFrom('imports')
        .select('file_id')
        .where('file_id', 'in', fileIds)
        .where((eb) => eb.or([eb('status', '!=', 'succeeded'), eb('is_dry_run', '=', 1)]))
        .execute()
      return rows.flatMap(({ file_id }) => file_id ?? [])
    },
  }
}

function importWrites(
  db: Kysely<Schema>,
): Pick<ImportStore, 'insert' | 'update' | 'requeue' | 'delete'> {
  return {
    async insert(added) {
      await db.insertInto('imports').values(columnsOf(added)).execute()
    },

    async update(id, fence, changes) {
      const result = await db
        .updateTable('imports')
        .set(columnsOf(changes))
        .where('id', '=', id)
        .where('fence', '=', fence)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async requeue(id, fence, changes) {
      await db
        .updateTable('imports')
        .set({ ...changes, lease_until: null })
        .where('id', '=', id)
        .where('fence', '=', fence)
        .where('next_at', 'is not', null)
        .execute()
    },

    async delete(id) {
      await db.deleteFrom('imports').where('id', '=', id).execute()
    },
  }
}

function columnsOf<T extends ImportChanges>({ options, counts, ahead, ...columns }: T) {
  return {
    ...columns,
    ...(options !== undefined && { options: JSON.stringify(options) }),
    ...(counts !== undefined && { counts: JSON.stringify(counts) }),
    ...(ahead !== undefined && { ahead: ahead.length === 0 ? null : JSON.stringify(ahead) }),
  } as T extends Import ? Selectable<Schema['imports']> : Updateable<Schema['imports']>
}

function importOf({ options, counts, ahead, ...row }: Selectable<Schema['imports']>): Import {
  return {
    ...row,
    options: JSON.parse(options),
    // Imports of earlier versions lack counts that came later.
    counts: { ...NO_COUNTS, ...JSON.parse(counts) },
    ahead: ahead === null ? [] : JSON.parse(ahead),
  }
}

/** What became of the rows of imports, and which links came from them. */
export type ImportRowStore = KeptValueStore & {
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

    ...keptValues(db),

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

/** The stores that imports use. */
export type ImportStores = LinkBatchStores &
  MakerStores & {
    readonly imports: ImportStore
    readonly importRows: ImportRowStore
    readonly clickSpools: ClickSpoolStore
    readonly conversions: Pick<ConversionStore, 'insertNew'>
  }
