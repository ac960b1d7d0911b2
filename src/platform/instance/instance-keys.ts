import { hkdfSync } from 'node:crypto'

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
