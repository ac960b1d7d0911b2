import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/database/schema.ts'
import type { AcmeAccountStore } from '../acme-account-store.ts'

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
