import { hkdfSync } from 'node:crypto'

/** What the instance's key is used for; each use has a key of its own. */
type Purpose =
  | 'link-password'
  | 'password-cookie'
  | 'idempotency'
  | 'key-check'
  | 'domain-proof'
  | 'certificate-key'
  | 'acme-account'
  | 'list-cursor'

/** A 32-byte key for one purpose, derived from the instance's key (HKDF, RFC 5869). */
export function deriveKey(instanceKey: Buffer, purpose: Purpose): Buffer {
  return Buffer.from(hkdfSync('sha256', instanceKey, '', `terse ${purpose}`, 32))
}
