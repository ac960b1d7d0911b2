import { type Kysely, sql } from 'kysely'
import type { LinkDirectory } from '../domain/links/link-directory.ts'
import type { Schema } from './schema.ts'
import { statement } from './statement.ts'

const findActiveHost = statement((db, { host }: { host: string }) =>
  db
    .selectFrom('domains')
    .innerJoin('keyspaces', (join) =>
      join
        .onRef('keyspaces.workspace_id', '=', 'domains.workspace_id')
        .onRef('keyspaces.host', '=', 'domains.host'),
    )
    .leftJoin('domain_hsts', 'domain_hsts.domain_id', 'domains.id')
    .select([
      'keyspaces.id as keyspaceId',
      'domains.not_found_url as notFoundUrl',
      'domains.expired_url as expiredUrl',
      'domain_hsts.max_age as hstsMaxAge',
    ])
    .where('domains.host', '=', host)
    // A literal, because a parameter would keep the index of active hosts from being used at once.
    .where('domains.status', '=', sql.lit('active')),
)

const findByFoldedKey = statement((db, group: { keyspaceId: number; foldedKey: string }) =>
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
    .where('keyspace_id', '=', group.keyspaceId)
    .where('key_folded', '=', group.foldedKey),
)

export function linkDirectory(db: Kysely<Schema>): LinkDirectory {
  return {
    findActiveHost: async (host) => (await findActiveHost(db, { host })).rows[0],
    findByFoldedKey: async (keyspaceId, foldedKey) =>
      (await findByFoldedKey(db, { keyspaceId, foldedKey })).rows,
  }
}
