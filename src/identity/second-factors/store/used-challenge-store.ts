import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

export type UsedChallengeStore = {
  /**
   * Notes that a challenge is redeemed. Returns false when it was before.
   *
   * @param hash of the challenge
   * @param expiresAt microseconds since the epoch; the row may be deleted then
   */
  use(hash: string, expiresAt: number): Promise<boolean>
  /** Deletes a bounded number of those that expired before; returns true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

const TRIM_MAX = 1_000

export function usedChallengeStore(db: Kysely<Schema>): UsedChallengeStore {
  return {
    async use(hash, expiresAt) {
      const inserted = await db
        .insertInto('used_challenges')
        .values({ hash, expires_at: expiresAt })
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .returning('hash')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async trim(beforeMicros) {
      const expired = db
        .selectFrom('used_challenges')
        .select('hash')
        .where('expires_at', '<', beforeMicros)
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('used_challenges')
        .where('hash', 'in', expired)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}
