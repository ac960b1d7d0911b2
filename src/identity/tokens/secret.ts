import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Random, randomString } from '../../platform/crypto/random.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'terse_'
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)

/**
 * A token's secret: `terse_`, 30 random base62 characters (178 bits), and the CRC-32 of these in six
 * more, by which a secret scanner knows a token from a look-alike without asking us.
 */
export function generateSecret(random: Random): string {
  const text = randomString(random, BASE62, RANDOM_LENGTH)
  return PREFIX + text + checksum(text)
}

/** Whether the text has the form and the checksum of a secret. */
export function isSecret(text: string): boolean {
  if (!SECRET.test(text)) return false
  const body = text.slice(PREFIX.length)
  return checksum(body.slice(0, RANDOM_LENGTH)) === body.slice(RANDOM_LENGTH)
}

/** All that is stored of a secret: its SHA-256, in hexadecimal. It has too many bits to be guessed. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index += 1) {
    digits = BASE62.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
