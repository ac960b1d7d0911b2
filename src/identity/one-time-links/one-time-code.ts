import { hash } from 'node:crypto'
import type { Random } from '../../platform/crypto/random.ts'

const CODE_BYTES = 32

/** The secret of a one-time link, in base64url. */
export function generateCode(random: Random): string {
  return Buffer.from(random(CODE_BYTES)).toString('base64url')
}

/** All that is stored of a code: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashCode(code: string): string {
  return hash('sha256', code, 'hex')
}
