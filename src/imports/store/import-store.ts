import { type Kysely, type Selectable, sql, type Updateable } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import type { Import } from '../import.ts'

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
    counts: JSON.parse(counts),
    ahead: ahead === null ? [] : JSON.parse(ahead),
  }
}
