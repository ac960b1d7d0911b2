import { type Kysely, sql } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { ChallengeType } from '../certificate-authority.ts'
import { type Budget, waitMicros } from '../certificate-order.ts'

/** This instance's account with a certificate authority, and its state. */
export type AcmeAccount = {
  /** The URL of the authority's directory. */
  readonly directory: string
  readonly sealedKey: string
  /** Null until the account is registered. */
  readonly url: string | null
  /** Failures of the authority in a row. */
  readonly failures: number
  /** No request is sent before this instant. Microseconds since the epoch. */
  readonly pausedUntil: number
  /** The last failure; null when there is none. */
  readonly failure: string | null
  /** The type of the challenge that succeeded last. */
  readonly challenge: ChallengeType | null
}

/** One account for each authority that this instance has used. */
export type AcmeAccountStore = {
  find(directory: string): Promise<AcmeAccount | undefined>
  /** Inserts a new account; does nothing when there is one. */
  insert(directory: string, sealedKey: string, now: number): Promise<void>
  /** @param url null when the authority no longer knows the account */
  setUrl(directory: string, url: string | null): Promise<void>
  /** Starts a pause. False when the count of failures is no longer `failures`. */
  pause(
    directory: string,
    failures: number,
    pause: { readonly until: number; readonly failure: string },
  ): Promise<boolean>
  /** Ends a pause and resets the failures. */
  resume(directory: string): Promise<void>
  setChallenge(directory: string, challenge: ChallengeType): Promise<void>
}

export function acmeAccountStore(db: Kysely<Schema>): AcmeAccountStore {
  const update = (directory: string) =>
    db.updateTable('acme_accounts').where('directory', '=', directory)

  return {
    find: (directory) =>
      db
        .selectFrom('acme_accounts')
        .select([
          'directory',
          'private_key as sealedKey',
          'url',
          'failures',
          'paused_until as pausedUntil',
          'failure',
          'challenge',
        ])
        .where('directory', '=', directory)
        .executeTakeFirst(),

    async insert(directory, sealedKey, now) {
      await db
        .insertInto('acme_accounts')
        .values({
          directory,
          private_key: sealedKey,
          url: null,
          failures: 0,
          paused_until: 0,
          failure: null,
          challenge: null,
          created_at: now,
        })
        .onConflict((conflict) => conflict.column('directory').doNothing())
        .execute()
    },

    async setUrl(directory, url) {
      await update(directory).set({ url }).execute()
    },

    async pause(directory, failures, { until, failure }) {
      const result = await update(directory)
        .set({ failures: failures + 1, paused_until: until, failure })
        .where('failures', '=', failures)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },

    async resume(directory) {
      await update(directory)
        .set({ failures: 0, paused_until: 0, failure: null })
        .where('failures', '>', 0)
        .execute()
    },

    async setChallenge(directory, challenge) {
      await update(directory).set({ challenge }).execute()
    },
  }
}

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
