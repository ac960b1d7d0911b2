import { hash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

/** An account with a provider of single sign-on that leads to a person. */
export type Identity = Schema['identities']

/** What the API calls an identity by: issuers and subjects may have any characters. */
export function identityIdOf({ issuer, subject }: Pick<Identity, 'issuer' | 'subject'>): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'hex')
}

export type IdentityStore = {
  find(issuer: string, subject: string): Promise<Identity | undefined>
  /** Returns a person's identities, oldest first. */
  list(personId: string): Promise<readonly Identity[]>
  /** Returns false when the account leads to a person already. */
  insert(identity: Identity): Promise<boolean>
  remove(identity: Pick<Identity, 'issuer' | 'subject'>): Promise<void>
}

export function identityStore(db: Kysely<Schema>): IdentityStore {
  return {
    find: (issuer, subject) =>
      db
        .selectFrom('identities')
        .selectAll()
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst(),
    list: (personId) =>
      db
        .selectFrom('identities')
        .selectAll()
        .where('person_id', '=', personId)
        .orderBy('created_at')
        .execute(),
    async insert(identity) {
      const inserted = await db
        .insertInto('identities')
        .values(identity)
        .onConflict((conflict) => conflict.columns(['issuer', 'subject']).doNothing())
        .returning('subject')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async remove({ issuer, subject }) {
      await db
        .deleteFrom('identities')
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .execute()
    },
  }
}
