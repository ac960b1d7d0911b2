import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'
import type { OneTimeLink, OneTimeLinkKind } from '../one-time-link.ts'

export type OneTimeLinkStore = {
  /** @param hash as `hashCode` */
  insert(link: OneTimeLink, hash: string): Promise<void>
  /** Finds a link that is neither used nor expired. */
  findOpen(kind: OneTimeLinkKind, hash: string, nowMicros: number): Promise<OneTimeLink | undefined>
  /** Marks an open link as used and returns it; undefined where it is not open. */
  use(kind: OneTimeLinkKind, hash: string, nowMicros: number): Promise<OneTimeLink | undefined>
  /** Whether a link of this kind is open. */
  hasOpen(kind: OneTimeLinkKind, nowMicros: number): Promise<boolean>
  /** Deletes a bounded number of links that expired before; returns true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

const COLUMNS = [
  'id',
  'kind',
  'person_id',
  'email',
  'email_folded',
  'workspace_id',
  'role',
  'created_by',
  'created_at',
  'expires_at',
  'used_at',
] as const

const TRIM_MAX = 1_000

export function oneTimeLinkStore(db: Kysely<Schema>): OneTimeLinkStore {
  return {
    async insert(link, hash) {
      await db
        .insertInto('one_time_links')
        .values({ ...link, hash })
        .execute()
    },
    findOpen: (kind, hash, nowMicros) =>
      db
        .selectFrom('one_time_links')
        .select(COLUMNS)
        .where('hash', '=', hash)
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .executeTakeFirst(),
    use: (kind, hash, nowMicros) =>
      db
        .updateTable('one_time_links')
        .set({ used_at: nowMicros })
        .where('hash', '=', hash)
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .returning(COLUMNS)
        .executeTakeFirst(),
    async hasOpen(kind, nowMicros) {
      const row = await db
        .selectFrom('one_time_links')
        .select('id')
        .where('kind', '=', kind)
        .where('used_at', 'is', null)
        .where('expires_at', '>', nowMicros)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    async trim(beforeMicros) {
      const expired = db
        .selectFrom('one_time_links')
        .select('id')
        .where('expires_at', '<', beforeMicros)
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('one_time_links')
        .where('id', 'in', expired)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}
