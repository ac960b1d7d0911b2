import { COMPAT_SERVICES, type CompatService } from '@terse/contract/compat'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

export type CompatStore = {
  /** Returns the services that a workspace answers for. */
  enabled(workspaceId: string): Promise<ReadonlySet<CompatService>>
  enable(workspaceId: string, service: CompatService, isEnabled: boolean): Promise<void>
  /** Keeps the secret of a token, sealed, for clients that send a hash of it. */
  insertSecret(tokenId: string, sealed: string): Promise<void>
  /** Returns the sealed secrets of tokens that are not revoked, the latest first. */
  listSecrets(limit: number): Promise<readonly { token_id: string; sealed: string }[]>
}

export function compatStore(db: Kysely<Schema>): CompatStore {
  return {
    async enabled(workspaceId) {
      const rows = await db
        .selectFrom('compat_settings')
        .select('service')
        .where('workspace_id', '=', workspaceId)
        .execute()
      const names = new Set(rows.map(({ service }) => service))
      return new Set(COMPAT_SERVICES.filter((service) => names.has(service)))
    },
    async enable(workspace_id, service, isEnabled) {
      if (isEnabled) {
        await db
          .insertInto('compat_settings')
          .values({ workspace_id, service })
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        return
      }
      await db
        .deleteFrom('compat_settings')
        .where('workspace_id', '=', workspace_id)
        .where('service', '=', service)
        .execute()
    },
    async insertSecret(token_id, sealed) {
      await db.insertInto('compat_secrets').values({ token_id, sealed }).execute()
    },
    listSecrets: (limit) =>
      db
        .selectFrom('compat_secrets')
        .innerJoin('tokens', 'tokens.id', 'compat_secrets.token_id')
        .select(['compat_secrets.token_id', 'compat_secrets.sealed'])
        .where('tokens.revoked_at', 'is', null)
        .orderBy('tokens.created_at', 'desc')
        .limit(limit)
        .execute(),
  }
}
