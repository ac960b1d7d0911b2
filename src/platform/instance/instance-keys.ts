import { hkdfSync } from 'node:crypto'
import type { Store } from '../database/store.ts'
import type { InstanceStore } from './store/instance-store.ts'

/** The uses of the instance's key; each has its own derived key. */
type Purpose =
  | 'link-password'
  | 'password-cookie'
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
