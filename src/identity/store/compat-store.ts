import { COMPAT_SERVICES, type CompatService } from '@terse/contract/compat-services'
import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

export type CompatStore = {
  /** Returns the services that a workspace answers for. */
  enabled(workspaceId: string): Promise<ReadonlySet<CompatService>>
  enable(workspaceId: string, service: CompatService, isEnabled: boolean): Promise<void>
  /** Keeps the secret of a token, sealed, for clients that send a hash of it. */
  insertSecret(tokenId: string, sealed: string): Promise<void>
  deleteSecret(tokenId: string): Promise<void>
  /**
   * Returns the sealed secrets of tokens that work: the latest of each workspace, then the second of each, and so on. So no
   * workspace keeps those of another below the limit.
   */
  listSecrets(
    limit: number,
    nowMicros: number,
  ): Promise<readonly { token_id: string; sealed: string }[]>
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
    async deleteSecret(tokenId) {
      await db.deleteFrom('compat_secrets').where('token_id', '=', tokenId).execute()
    },
    listSecrets: (limit, nowMicros) =>
      db
        .selectFrom('compat_secrets')
        .innerJoin('tokens', 'tokens.id', 'compat_secrets.token_id')
        .innerJoin('compat_settings', (join) =>
          join
            .onRef('compat_settings.workspace_id', '=', 'tokens.workspace_id')
            .on('compat_settings.service', '=', 'yourls'),
        )
        .select(['compat_secrets.token_id', 'compat_secrets.sealed'])
        .where('tokens.revoked_at', 'is', null)
        .where(({ eb, or }) =>
          or([eb('tokens.expires_at', 'is', null), eb('tokens.expires_at', '>', nowMicros)]),
        )
        .orderBy(({ fn }) =>
          fn
            .agg('row_number')
            .over((over) =>
              over.partitionBy('tokens.workspace_id').orderBy('tokens.created_at', 'desc'),
            ),
        )
        .orderBy('tokens.created_at', 'desc')
        .limit(limit)
        .execute(),
  }
}
