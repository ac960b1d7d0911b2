import { sql } from 'kysely'
import type { Migration } from '../../../storage/migration.ts'

/** The columns of a link whose bytes count towards its workspace's storage. */
const TEXTS = [
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
  'tags',
]

export const quotas: Migration = {
  name: 'quotas',
  servedFrom: 1,
  async up(db, types) {
    const bytes = TEXTS.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
    const statements = [
      sql`create table workspace_quotas (
        workspace_id ${sql.raw(types.uuid)} primary key references workspaces (id),
        links bigint,
        domains bigint,
        pending_domains bigint,
        storage_bytes bigint,
        requests_per_minute bigint
      )`,
      sql`alter table link_buckets add column bytes bigint not null default 0`,
      sql`update link_buckets set bytes = coalesce((
        select sum(${sql.raw(bytes)}) from links
        where links.workspace_id = link_buckets.workspace_id
          and links.seq >= link_buckets.bucket * 1024
          and links.seq < link_buckets.bucket * 1024 + 1024
      ), 0)`,
    ]
    for (const statement of statements) await statement.execute(db)
  },
}
