import { hash } from 'node:crypto'
import type { Random } from '../../platform/crypto/random.ts'

const PERSON_BYTES = 16
const RANDOM_BYTES = 32
const SECRET = /^[A-Za-z0-9_-]{64}$/

/**
 * The secret of a session, which its cookie holds: the person's identifier and 32 random bytes, in base64url.
 * With the identifier in it, all that is cached of a person has one name, and wrong secrets of a cached person
 * cost no query.
 */
export function generateSessionSecret(random: Random, personId: string): string {
  const person = Buffer.from(personId.replaceAll('-', ''), 'hex')
  return Buffer.concat([person, random(RANDOM_BYTES)]).toString('base64url')
}

/** The person that a secret names; undefined for text that is no secret. */
export function personOfSecret(secret: string): string | undefined {
  if (!SECRET.test(secret)) return undefined
  const hex = Buffer.from(secret, 'base64url').subarray(0, PERSON_BYTES).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** All that is stored of a secret: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashSessionSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
