import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

/** The secret salts for hashing visitors, one for each UTC day. */
export type VisitorSaltStore = {
  /** @param day days since 1970-01-01 */
  find(day: number): Promise<string | undefined>
  /** Stores `salt` unless the day has one already. Returns the stored salt. */
  keep(day: number, salt: string): Promise<string>
  /** Deletes the salts of all days before `day`, after which their visitor hashes cannot be linked to anyone. */
  forgetBefore(day: number): Promise<void>
}

export function visitorSaltStore(db: Kysely<Schema>): VisitorSaltStore {
  async function find(day: number): Promise<string | undefined> {
    const row = await db
      .selectFrom('visitor_salts')
      .select('salt')
      .where('day', '=', day)
      .executeTakeFirst()
    return row?.salt
  }
  return {
    find,
    async keep(day, salt) {
      await db
        .insertInto('visitor_salts')
        .values({ day, salt })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await find(day)) ?? salt
    },
    async forgetBefore(day) {
      await db.deleteFrom('visitor_salts').where('day', '<', day).execute()
    },
  }
}
