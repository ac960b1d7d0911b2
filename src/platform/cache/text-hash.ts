import { randomBytes } from 'node:crypto'

const secrets = randomBytes(8)
const SEED = secrets.readInt32LE(0)
/** Odd, so that no two states become one. */
const FACTOR = secrets.readInt32LE(4) | 1
const LAST_FACTOR = 0x85eb_ca6b

/**
 * Returns a hash of 32 bits for a table, never 0. Seed and factor are secret and change with each start, so that no
 * client can choose texts of equal hashes. For the same reason a character never reaches the highest bits before it is
 * multiplied: a difference in the highest bit alone would outlast each odd factor.
 */
export function textHash(text: string): number {
  const { length } = text
  let hash = SEED ^ length
  for (let at = 0; at < length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR)
    hash ^= hash >>> 15
  }
  hash = Math.imul(hash, LAST_FACTOR)
  hash ^= hash >>> 13
  return hash === 0 ? 1 : hash
}
