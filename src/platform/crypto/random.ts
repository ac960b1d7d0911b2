import { randomBytes } from 'node:crypto'

/** A source of cryptographically strong random bytes; tests pass a deterministic one. */
export type Random = (sizeBytes: number) => Uint8Array

/** Bytes drawn per system call: a call costs more than the few bytes that callers need. */
const POOL_BYTES = 4096
let pool = Buffer.alloc(0)

/** Returns each byte once; the pool erases the bytes that it hands out. */
export const systemRandom: Random = (sizeBytes) => {
  if (sizeBytes > POOL_BYTES) return randomBytes(sizeBytes)
  if (sizeBytes > pool.length) pool = randomBytes(POOL_BYTES)
  const bytes = Buffer.from(pool.subarray(0, sizeBytes))
  pool.fill(0, 0, sizeBytes)
  pool = pool.subarray(sizeBytes)
  return bytes
}

/**
 * Returns a string of `length` characters drawn uniformly from `alphabet` (at most 256 characters). Bytes
 * that would favour the first characters of the alphabet are rejected.
 */
export function randomString(random: Random, alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of random(length - text.length + 8)) {
      if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}
