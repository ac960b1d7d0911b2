import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { LockName } from '../../../platform/database/store.ts'
import type { WriteBuffer } from '../../../platform/database/write-buffer.ts'
import { QUOTA_NAMES, type QuotaOverrides, type Usage } from '../quota.ts'

export type QuotaStore = {
  /** Returns undefined for a workspace without limits of its own. */
  find(workspaceId: string): Promise<QuotaOverrides | undefined>
  /** Returns all workspaces' own limits, by workspace id. */
  list(): Promise<ReadonlyMap<string, QuotaOverrides>>
  set(workspaceId: string, overrides: QuotaOverrides): Promise<void>
  /**
   * Locks the workspace's quotas until the transaction ends; other transactions that lock them
   * wait.
   */
  lock(workspaceId: string): Promise<void>
  /** Sums one row for each range of 1,024 link numbers. */
  countLinks(workspaceId: string): Promise<Pick<Usage, 'links' | 'storage_bytes'>>
  /** Reads each of the workspace's domains. */
  countDomains(workspaceId: string): Promise<Pick<Usage, 'domains' | 'pending_domains'>>
}

/** @param lockName undefined when the engine runs one writing transaction at a time */
export function quotaStore(
  db: Kysely<Schema>,
  writes: WriteBuffer,
  lockName: LockName | undefined,
): QuotaStore {
  return {
    find: (workspaceId) =>
      db
        .selectFrom('workspace_quotas')
        .select(QUOTA_NAMES)
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst(),

    async list() {
      const rows = await db.selectFrom('workspace_quotas').selectAll().execute()
      return new Map(rows.map(({ workspace_id, ...overrides }) => [workspace_id, overrides]))
    },

    async set(workspaceId, overrides) {
      await db
        .insertInto('workspace_quotas')
        .values({ workspace_id: workspaceId, ...overrides })
        .onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(overrides))
        .execute()
    },

    async lock(workspaceId) {
      if (lockName !== undefined) await db.executeQuery(lockName(db, `quotas ${workspaceId}`))
    },

    async countLinks(workspaceId) {
      await writes.flush()
      const row = await db
        .selectFrom('link_buckets')
        .select([
          sql<number | null>`cast(sum(links) as bigint)`.as('links'),
          sql<number | null>`cast(sum(bytes) as bigint)`.as('bytes'),
        ])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirst()
      // Nodes of an older release add no bytes but their links are subtracted, so the sum may be
      // negative.
      return { links: row?.links ?? 0, storage_bytes: Math.max(0, row?.bytes ?? 0) }
    },

    async countDomains(workspaceId) {
      const row = await db
        .selectFrom('domains')
        .select((eb) => [
          eb.fn.countAll<number>().as('domains'),
          sql<
            number | null
          >`cast(sum(case when status = 'pending' then 1 else 0 end) as bigint)`.as('pending'),
        ])
        .where('workspace_id', '=', workspaceId)
        .executeTakeFirstOrThrow()
      return { domains: row.domains, pending_domains: row.pending ?? 0 }
    },
  }
}
