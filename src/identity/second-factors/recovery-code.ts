import { createHmac } from 'node:crypto'
import { type Random, randomString } from '../../platform/crypto/random.ts'

/** Without characters that look alike. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const GROUP_LENGTH = 4
const GROUPS = 3
const CODES = 10

/** Ten codes of 59 random bits each, such as `k7f2-9xqm-h3vd`. */
export function generateRecoveryCodes(random: Random): readonly string[] {
  return Array.from({ length: CODES }, () =>
    Array.from({ length: GROUPS }, () => randomString(random, ALPHABET, GROUP_LENGTH)).join('-'),
  )
}

/**
 * What is stored of a code. Keyed, so that who has read the database can guess none offline.
 *
 * @param key 32 bytes, used for these hashes only
 * @param code as a person types it: letter case, spaces and hyphens do not matter
 */
export function hashRecoveryCode(key: Buffer, personId: string, code: string): string {
  const folded = code.toLowerCase().replaceAll(/[\s-]/g, '')
  return createHmac('sha256', key).update(`${personId}\n${folded}`).digest('hex')
}
