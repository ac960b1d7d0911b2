import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

/** The authenticator app of a person. */
type Totp = Pick<Schema['totp'], 'sealed_secret' | 'pending_secret'>

export type TotpStore = {
  find(personId: string): Promise<Totp | undefined>
  /** Keeps a secret that a code must confirm; the confirmed one stays in force until then. */
  setPending(personId: string, sealedSecret: string): Promise<void>
  /** Returns false when another secret is pending by now. */
  confirm(
    personId: string,
    confirmed: { sealedSecret: string; step: number; atMicros: number },
  ): Promise<boolean>
  /**
   * Notes that the code of a step was used. Returns false when that step or a later one was used before, or
   * the secret has been replaced.
   */
  useStep(personId: string, sealedSecret: string, step: number): Promise<boolean>
  /** Returns whether a confirmed one was removed. */
  remove(personId: string): Promise<boolean>
}

export function totpStore(db: Kysely<Schema>): TotpStore {
  return {
    find: (personId) =>
      db
        .selectFrom('totp')
        .select(['sealed_secret', 'pending_secret'])
        .where('person_id', '=', personId)
        .executeTakeFirst(),
    async setPending(personId, sealedSecret) {
      const pending = { pending_secret: sealedSecret }
      const none = { sealed_secret: null, confirmed_at: null, last_step: 0 }
      await db
        .insertInto('totp')
        .values({ person_id: personId, ...none, ...pending })
        .onConflict((conflict) => conflict.column('person_id').doUpdateSet(pending))
        .execute()
    },
    async confirm(personId, { sealedSecret, step, atMicros }) {
      const { numUpdatedRows } = await db
        .updateTable('totp')
        .set({
          sealed_secret: sealedSecret,
          pending_secret: null,
          confirmed_at: atMicros,
          last_step: step,
        })
        .where('person_id', '=', personId)
        .where('pending_secret', '=', sealedSecret)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async useStep(personId, sealedSecret, step) {
      const { numUpdatedRows } = await db
        .updateTable('totp')
        .set({ last_step: step })
        .where('person_id', '=', personId)
        .where('sealed_secret', '=', sealedSecret)
        .where('last_step', '<', step)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async remove(personId) {
      const removed = await db
        .deleteFrom('totp')
        .where('person_id', '=', personId)
        .returning('sealed_secret')
        .executeTakeFirst()
      return typeof removed?.sealed_secret === 'string'
    },
  }
}
