import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

export type StoredPassword = {
  /** As `PasswordVault.seal`. */
  readonly sealed_hash: string
  /** Whether it is long enough for a person without a second factor. */
  readonly is_long: boolean
  /** Microseconds since the epoch. */
  readonly changed_at: number
}

export type PasswordStore = {
  find(personId: string): Promise<StoredPassword | undefined>
  set(personId: string, password: StoredPassword): Promise<void>
  /** Returns whether there was one. */
  remove(personId: string): Promise<boolean>
}

export function passwordStore(db: Kysely<Schema>): PasswordStore {
  return {
    async find(personId) {
      const row = await db
        .selectFrom('passwords')
        .select(['sealed_hash', 'is_long', 'changed_at'])
        .where('person_id', '=', personId)
        .executeTakeFirst()
      return row && { ...row, is_long: row.is_long === 1 }
    },
    async set(personId, password) {
      const row = { ...password, is_long: password.is_long ? 1 : 0 }
      await db
        .insertInto('passwords')
        .values({ person_id: personId, ...row })
        .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
        .execute()
    },
    async remove(personId) {
      const row = await db
        .deleteFrom('passwords')
        .where('person_id', '=', personId)
        .returning('person_id')
        .executeTakeFirst()
      return row !== undefined
    },
  }
}
