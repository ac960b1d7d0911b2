import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/**
 * The HSTS settings of domains (RFC 6797): one row for each claim that sends the header, deleted
 * with the claim.
 */
export type HstsStore = {
  /** Returns the max-age in seconds, or undefined when the domain sends no HSTS header. */
  find(domainId: string): Promise<number | undefined>
  save(domainId: string, maxAgeSeconds: number): Promise<void>
  remove(domainId: string): Promise<void>
}

export function hstsStore(db: Kysely<Schema>): HstsStore {
  return {
    async find(domainId) {
      const row = await db
        .selectFrom('domain_hsts')
        .select('max_age')
        .where('domain_id', '=', domainId)
        .executeTakeFirst()
      return row?.max_age
    },
    async save(domainId, maxAgeSeconds) {
      await db
        .insertInto('domain_hsts')
        .values({ domain_id: domainId, max_age: maxAgeSeconds })
        .onConflict((conflict) =>
          conflict.column('domain_id').doUpdateSet({ max_age: maxAgeSeconds }),
        )
        .execute()
    },
    async remove(domainId) {
      await db.deleteFrom('domain_hsts').where('domain_id', '=', domainId).execute()
    },
  }
}
