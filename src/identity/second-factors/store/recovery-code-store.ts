import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

export type RecoveryCodeStore = {
  /** @param hashes of the new codes; all earlier ones are deleted */
  replace(personId: string, hashes: readonly string[]): Promise<void>
  isUnused(personId: string, hash: string): Promise<boolean>
  /** Returns false when there is no such code, or it was used before. */
  use(personId: string, hash: string, atMicros: number): Promise<boolean>
  countUnused(personId: string): Promise<number>
}

export function recoveryCodeStore(db: Kysely<Schema>): RecoveryCodeStore {
  return {
    async replace(personId, hashes) {
      await db.deleteFrom('recovery_codes').where('person_id', '=', personId).execute()
      if (hashes.length === 0) return
      const rows = hashes.map((hash) => ({ person_id: personId, hash, used_at: null }))
      await db.insertInto('recovery_codes').values(rows).execute()
    },
    async isUnused(personId, hash) {
      const row = await db
        .selectFrom('recovery_codes')
        .select('hash')
        .where('person_id', '=', personId)
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst()
      return row !== undefined
    },
    async use(personId, hash, atMicros) {
      const { numUpdatedRows } = await db
        .updateTable('recovery_codes')
        .set({ used_at: atMicros })
        .where('person_id', '=', personId)
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async countUnused(personId) {
      const { count } = await db
        .selectFrom('recovery_codes')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('person_id', '=', personId)
        .where('used_at', 'is', null)
        .executeTakeFirstOrThrow()
      return count
    },
  }
}
