import type { Kysely } from 'kysely'
import type { Schema } from '../../storage/schema.ts'
import type { ChallengeType } from '../certificate-authority.ts'

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
