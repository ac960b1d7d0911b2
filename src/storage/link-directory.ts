import type { Kysely } from 'kysely'
import type { LinkDirectory } from '../domain/links/link-directory.ts'
import type { Schema } from './schema.ts'

export function linkDirectory(db: Kysely<Schema>): LinkDirectory {
  return {
    findActiveHost: (host) =>
      db
        .selectFrom('domains')
        .innerJoin('keyspaces', (join) =>
          join
            .onRef('keyspaces.workspace_id', '=', 'domains.workspace_id')
            .onRef('keyspaces.host', '=', 'domains.host'),
        )
        .select([
          'keyspaces.id as keyspaceId',
          'domains.not_found_url as notFoundUrl',
          'domains.expired_url as expiredUrl',
        ])
        .where('domains.host', '=', host)
        .where('domains.status', '=', 'active')
        .executeTakeFirst(),

    findByFoldedKey: (keyspaceId, foldedKey) =>
      db
        .selectFrom('links')
        .select([
          'seq',
          'key',
          'url',
          'ios',
          'android',
          'utm_source',
          'utm_medium',
          'utm_campaign',
          'utm_term',
          'utm_content',
          'utm_name',
          'password',
          'expires_at',
          'expired_redirect_url',
        ])
        .where('keyspace_id', '=', keyspaceId)
        .where('key_folded', '=', foldedKey)
        .execute(),
  }
}
