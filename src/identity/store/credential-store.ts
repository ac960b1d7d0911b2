import { hash } from 'node:crypto'
import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../storage/schema.ts'

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

export type RecoveryCodeStore = {
  /** @param hashes of the new codes; all earlier ones are deleted */
  replace(personId: string, hashes: readonly string[]): Promise<void>
  isUnused(personId: string, hash: string): Promise<boolean>
  /** Returns false when there is no such code, or it was used before. */
  use(personId: string, hash: string, atMicros: number): Promise<boolean>
  countUnused(personId: string): Promise<number>
}

export function recoveryCodeStore(db: Kysely<Schema>): RecoveryCodeStore {
  return {
    async replace(personId, hashes) {
      await db.deleteFrom('recovery_codes').where('person_id', '=', personId).execute()
      if (hashes.length === 0) return
      const rows = hashes.map((hash) => ({ person_id: personId, hash, used_at: null }))
      await db.insertInto('recovery_codes').values(rows).execute()
    },
    async isUnused(personId, hash) {
      const row = await db
        .selectFrom('recovery_codes')
        .select('hash')
        .where('person_id', '=', personId)
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst()
      return row !== undefined
    },
    async use(personId, hash, atMicros) {
      const { numUpdatedRows } = await db
        .updateTable('recovery_codes')
        .set({ used_at: atMicros })
        .where('person_id', '=', personId)
        .where('hash', '=', hash)
        .where('used_at', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async countUnused(personId) {
      const { count } = await db
        .selectFrom('recovery_codes')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('person_id', '=', personId)
        .where('used_at', 'is', null)
        .executeTakeFirstOrThrow()
      return count
    },
  }
}

export type Passkey = {
  readonly id: string
  readonly person_id: string
  /** In base64url, as are the public key (COSE) and what browsers send. */
  readonly credential_id: string
  readonly public_key: string
  /**
   * The number of signatures, as the authenticator counts them; most synchronized passkeys always
   * send 0.
   */
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly created_at: number
  readonly last_used_at: number | null
  /**
   * Whether it is a second factor only: the person did not confirm it with a new password, and it is all that guards
   * the account besides. Its use after that password shows that it is theirs.
   */
  readonly needs_password: boolean
}

export type PasskeyStore = {
  findByCredential(credentialId: string): Promise<Passkey | undefined>
  /** Returns a person's passkeys, oldest first. */
  list(personId: string): Promise<readonly Passkey[]>
  /** @throws {UniqueViolation} when the credential is known */
  insert(passkey: Passkey): Promise<void>
  /** Returns the passkey as it was before; undefined where the person has none with this id. */
  rename(personId: string, id: string, name: string): Promise<Passkey | undefined>
  /** Returns false when the counter did not rise: the authenticator may have been copied. */
  noteUse(id: string, counter: number, atMicros: number): Promise<boolean>
  setNeedsPassword(id: string, needsPassword: boolean): Promise<void>
  /** Returns what was removed. */
  remove(personId: string, id: string): Promise<Passkey | undefined>
}

export function passkeyStore(db: Kysely<Schema>): PasskeyStore {
  return {
    async findByCredential(credentialId) {
      const row = await db
        .selectFrom('passkeys')
        .selectAll()
        .where('credential_id', '=', credentialId)
        .executeTakeFirst()
      return row && fromRow(row)
    },
    async list(personId) {
      const rows = await db
        .selectFrom('passkeys')
        .selectAll()
        .where('person_id', '=', personId)
        .orderBy('created_at')
        .execute()
      return rows.map(fromRow)
    },
    async insert(passkey) {
      const row = {
        ...passkey,
        transports: passkey.transports.join(' '),
        needs_password: passkey.needs_password ? 1 : 0,
      }
      await db.insertInto('passkeys').values(row).execute()
    },
    async rename(personId, id, name) {
      const row = await db
        .selectFrom('passkeys')
        .selectAll()
        .where('person_id', '=', personId)
        .where('id', '=', id)
        .executeTakeFirst()
      if (row === undefined) return undefined
      await db.updateTable('passkeys').set({ name }).where('id', '=', id).execute()
      return fromRow(row)
    },
    async noteUse(id, counter, atMicros) {
      let update = db
        .updateTable('passkeys')
        .set({ counter, last_used_at: atMicros })
        .where('id', '=', id)
      // WebAuthn, section 7.2, step 22: authenticators that do not count send 0 always.
      update =
        counter === 0 ? update.where('counter', '=', 0) : update.where('counter', '<', counter)
      const { numUpdatedRows } = await update.executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async setNeedsPassword(id, needsPassword) {
      const needs_password = needsPassword ? 1 : 0
      await db.updateTable('passkeys').set({ needs_password }).where('id', '=', id).execute()
    },
    async remove(personId, id) {
      const row = await db
        .deleteFrom('passkeys')
        .where('person_id', '=', personId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
      return row && fromRow(row)
    },
  }
}

function fromRow(row: Selectable<Schema['passkeys']>): Passkey {
  const transports = row.transports.split(' ').filter((name) => name !== '')
  return { ...row, transports, needs_password: row.needs_password === 1 }
}

export type UsedChallengeStore = {
  /**
   * Notes that a challenge is redeemed. Returns false when it was before.
   *
   * @param hash of the challenge
   * @param expiresAt microseconds since the epoch; the row may be deleted then
   */
  use(hash: string, expiresAt: number): Promise<boolean>
  /** Deletes a bounded number of those that expired before; returns true when there may be more. */
  trim(beforeMicros: number): Promise<boolean>
}

const TRIM_MAX = 1_000

export function usedChallengeStore(db: Kysely<Schema>): UsedChallengeStore {
  return {
    async use(hash, expiresAt) {
      const inserted = await db
        .insertInto('used_challenges')
        .values({ hash, expires_at: expiresAt })
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .returning('hash')
        .executeTakeFirst()
      return inserted !== undefined
    },
    async trim(beforeMicros) {
      const expired = db
        .selectFrom('used_challenges')
        .select('hash')
        .where('expires_at', '<', beforeMicros)
        .limit(TRIM_MAX)
      const result = await db
        .deleteFrom('used_challenges')
        .where('hash', 'in', expired)
        .executeTakeFirst()
      return result.numDeletedRows === BigInt(TRIM_MAX)
    },
  }
}

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
