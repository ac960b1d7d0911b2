import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import { type Budget, waitMicros } from '../budget.ts'

/**
 * What is spent of the budgets of orders, by authority and subject. Rows outlive the hosts that
 * they are about.
 */
export type AcmeBudgetStore = {
  /**
   * Charges a budget once. Safe when several nodes charge it at the same time.
   *
   * @returns 0, or microseconds until it can be charged when it is exhausted: then nothing was charged
   */
  charge(directory: string, subject: string, budget: Budget, now: number): Promise<number>
  /**
   * When a budget is full again, in microseconds since the epoch; 0 for one that was never charged.
   */
  spentUntil(directory: string, subject: string): Promise<number>
  /** Undoes one charge. */
  refund(directory: string, subject: string, budget: Budget): Promise<void>
  /** Deletes the rows of budgets that are full again. */
  trim(now: number): Promise<void>
}

export function acmeBudgetStore(db: Kysely<Schema>): AcmeBudgetStore {
  async function spentUntil(directory: string, subject: string): Promise<number> {
    const row = await db
      .selectFrom('acme_budgets')
      .select('spent_until')
      .where('directory', '=', directory)
      .where('subject', '=', subject)
      .executeTakeFirst()
    return row?.spent_until ?? 0
  }

  return {
    spentUntil,

    async charge(directory, subject, budget, now) {
      const { burst, refillMicros, reserved = 0 } = budget
      const fullMicros = burst * refillMicros
      const usableMicros = (burst - reserved) * refillMicros
      // One statement, so that concurrent charges wait for each other instead of failing with a conflict.
      // A value beyond a whole bucket was written before the clock was set back.
      const charged = await sql<{ spent_until: number }>`
        insert into acme_budgets (directory, subject, spent_until)
        values (${directory}, ${subject}, ${now + refillMicros})
        on conflict (directory, subject) do update set spent_until =
          case
            when acme_budgets.spent_until < ${now} then ${now + refillMicros}
            when acme_budgets.spent_until > ${now + fullMicros} then ${now + fullMicros}
            else acme_budgets.spent_until + ${refillMicros}
          end
        where acme_budgets.spent_until <= ${now + usableMicros - refillMicros}
          or acme_budgets.spent_until > ${now + fullMicros}
        returning spent_until`.execute(db)
      if (charged.rows.length > 0) return 0
      return Math.max(1, waitMicros(budget, await spentUntil(directory, subject), now))
    },

    async refund(directory, subject, { refillMicros }) {
      await db
        .updateTable('acme_budgets')
        .set((eb) => ({ spent_until: eb('spent_until', '-', refillMicros) }))
        .where('directory', '=', directory)
        .where('subject', '=', subject)
        .execute()
    },

    async trim(now) {
      await db.deleteFrom('acme_budgets').where('spent_until', '<=', now).execute()
    },
  }
}
