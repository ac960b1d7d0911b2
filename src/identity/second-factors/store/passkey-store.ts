import type { Kysely, Selectable } from 'kysely'
import type { Schema } from '../../../platform/database/schema.ts'

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
