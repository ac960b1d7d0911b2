import { hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Kysely } from 'kysely'
import { createFolder } from '../platform/disk/folder.ts'
import { hasErrorCode } from '../platform/process/has-error-code.ts'
import type { Schema } from './schema.ts'
import type { Store } from './store.ts'
import type { WriteBuffer } from './write-buffer.ts'

/** The uses of the instance's key; each has its own derived key. */
type Purpose =
  | 'link-password'
  | 'password-cookie'
  | 'variant-cookie'
  | 'visit-token'
  | 'conversion-keys'
  | 'idempotency'
  | 'idempotency-results'
  | 'key-check'
  | 'domain-proof'
  | 'certificate-key'
  | 'acme-account'
  | 'list-cursor'
  | 'totp-secret'
  | 'recovery-codes'
  | 'passkey-challenge'
  | 'oidc-state'
  | 'person-password'
  | 'backup-blocks'
  | 'import-settings'
  | 'webhook-secrets'
  | 'compat-secrets'

/** A 32-byte key for one purpose, derived from the instance's key (HKDF, RFC 5869). */
export function deriveKey(instanceKey: Buffer, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', instanceKey, '', `terse ${purpose}`, 32))
}

type InstanceStores = { readonly instance: InstanceStore }

const NAME = 'key_check'

/** Whether an earlier process has set the key of this database. */
export async function hasInstanceKey(store: Store<InstanceStores>): Promise<boolean> {
  return (await store.read.instance.find(NAME)) !== undefined
}

/**
 * Checks that this process has the key that encrypts the database's secrets; the first process on a new
 * database sets it. Returns the key.
 *
 * @throws when the key differs: new secrets would be encrypted with another key than the existing ones
 */
export async function checkInstanceKey(
  store: Store<InstanceStores>,
  instanceKey: Buffer,
): Promise<Buffer> {
  const mark = deriveKey(instanceKey, 'key-check').toString('hex')
  const kept =
    (await store.read.instance.find(NAME)) ??
    (await store.write((stores) => stores.instance.keep(NAME, mark)))
  if (kept !== mark) {
    throw new Error(
      'The secret key is not the one that this database was created with. ' +
        'Set TERSE_SECRET_KEY to that key, or restore secret.key in the data folder.',
    )
  }
  return instanceKey
}

const FILE_NAME = 'secret.key'

export function secretKeyFile(dataDir: string): string {
  return path.join(dataDir, FILE_NAME)
}

/**
 * Reads the instance's 32-byte key from the data folder; undefined when there is none yet.
 *
 * @throws when the file holds no key, or other users can read it
 */
export function loadSecretKey(dataDir: string): Buffer | undefined {
  return readKey(secretKeyFile(dataDir))
}

/**
 * Reads the instance's 32-byte key from the data folder, or creates it there, readable only by its
 * owner. Two processes that start at once get the same key: each writes a file under another name and
 * links it into place, which only one of them can do.
 *
 * @throws when the file holds no key, or other users can read it
 */
export function loadOrCreateSecretKey(dataDir: string): Buffer {
  createFolder(dataDir)
  const file = secretKeyFile(dataDir)
  const existing = readKey(file)
  if (existing !== undefined) return existing

  const aside = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(aside, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(aside, file)
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
  } finally {
    rmSync(aside, { force: true })
  }
  const key = readKey(file)
  if (key === undefined) throw new Error(`${file} was removed while it was being made`)
  return key
}

function readKey(file: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(
      `${file} is damaged: it must hold 64 hexadecimal digits. Restore it from a backup.`,
    )
  }
  if ((statSync(file).mode & 0o077) !== 0) {
    throw new Error(`${file} can be read by others; run: chmod 600 ${file}`)
  }
  return Buffer.from(text, 'hex')
}

/** Values that hold for the whole instance, by name. */
export type InstanceStore = {
  find(name: string): Promise<string | undefined>
  /** Stores `value` unless the name has one already; returns the stored value. */
  keep(name: string, value: string): Promise<string>
  /**
   * Inserts and deletes a row, with as many round trips as a transaction of the API, to check that writes
   * work. Does not wait for other processes that do the same.
   */
  tryWrite(): Promise<void>
}

export function instanceStore(db: Kysely<Schema>, writes: WriteBuffer): InstanceStore {
  async function find(name: string): Promise<string | undefined> {
    const row = await db
      .selectFrom('instance')
      .select('value')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.value
  }
  return {
    find,
    async keep(name, value) {
      await db
        .insertInto('instance')
        .values({ name, value })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      return (await find(name)) ?? value
    },
    async tryWrite() {
      const name = `write-probe ${randomUUID()}`
      await find(name)
      await db.insertInto('instance').values({ name, value: '' }).execute()
      await writes.add(db.deleteFrom('instance').where('name', '=', name).compile())
    },
  }
}
