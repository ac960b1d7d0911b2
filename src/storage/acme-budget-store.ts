import type { Kysely } from 'kysely'
import type { AcmeBudgetStore } from '../domain/certificates/acme-budget-store.ts'
import { StaleRow } from '../domain/store.ts'
import type { Schema } from './schema.ts'

export function acmeBudgetStore(db: Kysely<Schema>): AcmeBudgetStore {
  return {
    async find(directory, subject) {
      const row = await db
        .selectFrom('acme_budgets')
        .select('spent_until')
        .where('directory', '=', directory)
        .where('subject', '=', subject)
        .executeTakeFirst()
      return row?.spent_until
    },

    async move(directory, subject, from, to) {
      if (from === undefined) {
        const inserted = await db
          .insertInto('acme_budgets')
          .values({ directory, subject, spent_until: to })
          .onConflict((conflict) => conflict.columns(['directory', 'subject']).doNothing())
          .executeTakeFirst()
        if (inserted.numInsertedOrUpdatedRows !== 1n) throw new StaleRow()
        return
      }
      const updated = await db
        .updateTable('acme_budgets')
        .set({ spent_until: to })
        .where('directory', '=', directory)
        .where('subject', '=', subject)
        .where('spent_until', '=', from)
        .executeTakeFirst()
      if (updated.numUpdatedRows === 0n) throw new StaleRow()
    },

    async trim(now) {
      await db.deleteFrom('acme_budgets').where('spent_until', '<=', now).execute()
    },
  }
}
