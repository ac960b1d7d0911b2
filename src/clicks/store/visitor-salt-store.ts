import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import type { VisitorSaltStore } from '../visitor-salt-store.ts'

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
